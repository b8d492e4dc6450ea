/** Builds the console into static files with precompressed copies, so that the server does not compress them. */

import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { compressFiles } from './compress-files.ts';

/** The server that `npm run dev` uses. */
const devServer = 'http://127.0.0.1:8080';

function compressBuild(): Plugin {
  return { name: 'compressed-forms', apply: 'build', writeBundle: ({ dir }) => compressFiles(dir!) };
}

/** Drops the texts of react-aria in thirty other languages: the console is in English. */
function keepEnglish(): Plugin {
  return {
    name: 'english-alone',
    enforce: 'pre',
    load: {
      filter: { id: /react-(?:aria|stately)[^?]*\/intl\/.*\/(?!en-US)[a-z]{2}-[A-Z]{2}\.m?js$/ },
      handler: () => 'export default {};',
    },
  };
}

export default defineConfig({
  // Relative, because a server behind a proxy can have a base path, which it writes into index.html.
  base: './',
  plugins: [react(), keepEnglish(), compressBuild()],
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
