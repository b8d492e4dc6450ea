/** An empty page that can import `@espalier/client` from its sources. */

import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { typeOf, type ServedFile } from './page-server.ts';

const root = join(import.meta.dirname, '../..');
const folders: Readonly<Record<string, string>> = {
  client: join(root, 'client/src'),
  'graphql-ws': join(root, 'node_modules/graphql-ws/dist'),
};
const imports = { '@espalier/client': '/client/index.ts', 'graphql-ws/client': '/graphql-ws/client.js' };
const page = `<!doctype html><meta charset="utf-8"><title>A page</title>
<script type="importmap">${JSON.stringify({ imports })}</script>`;

export function clientPage(path: string): ServedFile {
  if (path === '/') return { type: typeOf('index.html'), content: page };
  const [, folder = '', ...names] = path.split('/');
  const text = readFileSync(join(folders[folder]!, ...names), 'utf8');
  return { type: typeOf(path), content: path.endsWith('.ts') ? stripTypeScriptTypes(text) : text };
}
