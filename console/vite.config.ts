/** Builds the console into static files, each with its compressed forms beside it, so that serving one costs nothing. */

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const compressible = /\.(?:html|js|css|svg|json)$/;

/** Where `npm run dev` finds the server. */
const devServer = 'http://127.0.0.1:8080';

function compressedForms(): Plugin {
  return {
    name: 'compressed-forms',
    apply: 'build',
    async writeBundle({ dir }) {
      const names = await readdir(dir!, { recursive: true });
      await Promise.all(
        names.filter((name) => compressible.test(name)).map((name) => compress(join(dir!, name))),
      );
    },
  };
}

/** react-aria brings its texts in thirty languages; the console is in English. */
function englishAlone(): Plugin {
  return {
    name: 'english-alone',
    enforce: 'pre',
    load: {
      filter: { id: /react-(?:aria|stately)[^?]*\/intl\/.*\/(?!en-US)[a-z]{2}-[A-Z]{2}\.m?js$/ },
      handler: () => 'export default {};',
    },
  };
}

async function compress(path: string): Promise<void> {
  const content = await readFile(path);
  if (content.length < 1024) return;
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: content.length > 1_000_000 ? 5 : 9 } };
  await writeFile(`${path}.br`, await promisify(brotliCompress)(content, quality));
  await writeFile(`${path}.gz`, await promisify(gzip)(content, { level: 9 }));
}

export default defineConfig({
  // Relative, because a server behind a proxy may have a base path: it writes its own into index.html.
  base: './',
  plugins: [react(), englishAlone(), compressedForms()],
  resolve: { conditions: ['espalier-source', 'module', 'browser', 'production'] },
  build: {
    target: 'es2024',
    // Files as they are, never as data: URLs, which the page's policy does not let in.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The explorer, with its editor, is large, and is loaded on demand.
    chunkSizeWarningLimit: 6000,
    reportCompressedSize: false,
    rolldownOptions: {
      checks: { pluginTimings: false },
      // Directives for React's compiler, in libraries that it has compiled already: they mean nothing here.
      onwarn: (warning, tell) => {
        if (warning.code !== 'MODULE_LEVEL_DIRECTIVE') tell(warning);
      },
    },
  },
  server: {
    proxy: Object.fromEntries(
      ['/login', '/logout', '/graphql', '/openapi.json'].map((path) => [
        path,
        { target: devServer, ws: true },
      ]),
    ),
  },
});
