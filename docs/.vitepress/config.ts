/** The documentation site: the pages of docs/ and a few others, as static files below /docs/. */

import { defineConfig } from 'vitepress';
import { convertMarkdown, headingAnchor } from './markdown.ts';
import { iconFile, publish, servePublishedFiles, writePublishedFiles } from './published-files.ts';
import { createSidebar, otherPages } from './sidebar.ts';

const base = '/docs/';

export default defineConfig({
  title: 'Espalier',
  description: 'Espalier: token-secured graph access to one shared tree of folders',
  lang: 'en-US',
  base,
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: base + publish(iconFile) }]],
  // Pages outside docs/ belong to the site as well, for example CONTRIBUTING.md.
  srcDir: '..',
  srcExclude: [
    '{.ci,client,console,contract,deploy,examples/*,release,server,tests}/**/*.md',
    '**/espalier-data/**',
    '**/.vitepress/**',
  ],
  rewrites: {
    'docs/README.md': 'index.md',
    'docs/decisions/README.md': 'decisions/index.md',
    'docs/:path*': ':path*',
    ...otherPages,
  },
  // A script file instead of an inline script on each page.
  metaChunk: true,
  markdown: {
    anchor: { slugify: headingAnchor },
    headers: { slugify: headingAnchor },
    // Pages are written for code hosts, where braces and colons have no meaning.
    attrs: { disable: true },
    config: (md) => {
      md.disable('emoji');
      convertMarkdown(md, base);
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: { level: [2, 3] },
    nav: [
      { text: 'Tutorial', link: '/tutorial' },
      { text: 'Configuration', link: '/reference/configuration' },
      { text: 'Commands', link: '/reference/commands' },
      { text: 'Endpoints', link: '/reference/endpoints' },
    ],
    sidebar: createSidebar(),
    docFooter: { prev: 'Previous page', next: 'Next page' },
  },
  vite: {
    plugins: [servePublishedFiles(base)],
    build: { assetsInlineLimit: 0, chunkSizeWarningLimit: 6000 },
  },
  async buildEnd({ outDir }) {
    await writePublishedFiles(outDir);
  },
});
