/** Publishes copies of the files that pages link to, and the OpenAPI document, below files/ in the site. */

import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Plugin } from 'vitepress';
import type * as Contract from '../../contract/src/index.ts';
import { loadSource, root } from './repository.ts';

const folder = 'files/';
const openApiFile = 'openapi.json';
export const iconFile = 'console/public/icon.svg';
/** Other files are for contributors, who have the repository. */
const publishable = /^(contract\/schema\.graphql|deploy\/.+|examples\/.+|Dockerfile|LICENSE)$/;
const linked = new Set(['contract/schema.graphql', openApiFile, iconFile]);

export function isPublishable(file: string): boolean {
  if (file === openApiFile || file === iconFile) return true;
  return publishable.test(file) && existsSync(join(root, file)) && statSync(join(root, file)).isFile();
}

/** Returns the path of the copy in the site. */
export function publish(file: string): string {
  linked.add(file);
  return folder + file;
}

/** Must be called after all pages are rendered, because rendering collects the linked files. */
export async function writePublishedFiles(outDir: string): Promise<void> {
  for (const file of linked) {
    const copy = join(outDir, folder, file);
    mkdirSync(dirname(copy), { recursive: true });
    writeFileSync(copy, await read(file));
  }
}

/** Serves the files in the preview (`npm run docs`). */
export function servePublishedFiles(base: string): Plugin {
  return {
    name: 'published-files',
    configureServer({ middlewares }) {
      middlewares.use(base + folder, ({ url = '' }, response, next) => {
        const file = decodeURI(url.slice(1));
        if (!isPublishable(file)) return next();
        const type = file === iconFile ? 'image/svg+xml' : 'text/plain; charset=utf-8';
        response.setHeader('content-type', type);
        read(file).then((text) => response.end(text), next);
      });
    },
  };
}

async function read(file: string): Promise<string> {
  if (file !== openApiFile) return readFileSync(join(root, file), 'utf8');
  const { createOpenApiDocument } = await loadSource<typeof Contract>('contract/src/index.ts');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
  return `${JSON.stringify(createOpenApiDocument({ url: '/', version }), null, 2)}\n`;
}
