/** Builds the console into static files with precompressed copies, so that the server does not compress them. */

import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const compressibleFile = /\.(?:html|js|css|svg|json)$/;

/** `npm run dev` forwards API requests to this Espalier server. */
const devServer = 'http://127.0.0.1:8080';

function compressFiles(): Plugin {
  return {
    name: 'compress-files',
    apply: 'build',
    async writeBundle({ dir }) {
      const names = await readdir(dir!, { recursive: true });
      await Promise.all(
        names.filter((name) => compressibleFile.test(name)).map((name) => compress(join(dir!, name))),
      );
    },
  };
}

/** Removes the texts of react-aria in thirty other languages, because the console is in English. */
function keepEnglish(): Plugin {
  return {
    name: 'keep-english',
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
  // Relative, because a server behind a proxy can have a base path, which it writes into index.html.
  base: './',
  plugins: [react(), keepEnglish(), compressFiles()],
  resolve: { conditions: ['espalier-source', 'module', 'browser', 'production'] },
  build: {
    target: 'es2024',
    // No data: URLs, because the page's Content Security Policy forbids them.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The explorer with its editor is large and is loaded on demand.
    chunkSizeWarningLimit: 6000,
    reportCompressedSize: false,
    rolldownOptions: {
      checks: { pluginTimings: false },
      // Compiled libraries still contain directives for React's compiler, which have no effect here.
      onwarn: (warning, log) => {
        if (warning.code !== 'MODULE_LEVEL_DIRECTIVE') log(warning);
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
