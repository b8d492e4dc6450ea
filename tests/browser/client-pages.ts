/** An empty page that can import `@espalier/client` from its sources, at an origin of its own. */

import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { stripTypeScriptTypes } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join, normalize } from 'node:path';

const root = join(import.meta.dirname, '../..');
const folders: Readonly<Record<string, string>> = {
  '/client/': join(root, 'client/src'),
  '/graphql-ws/': join(root, 'node_modules/graphql-ws/dist'),
};
const imports = { '@espalier/client': '/client/index.ts', 'graphql-ws': '/graphql-ws/client.js' };
const page = `<!doctype html><meta charset="utf-8"><title>A page</title>
<script type="importmap">${JSON.stringify({ imports })}</script>`;

export class ClientPages {
  readonly #server: Server;

  static async start(): Promise<ClientPages> {
    const server = createServer((request, response) => {
      const path = normalize(new URL(request.url!, 'http://localhost').pathname);
      const module = path === '/' ? undefined : moduleAt(path);
      if (path !== '/' && module === undefined) response.writeHead(404).end();
      else if (module === undefined) response.writeHead(200, { 'content-type': 'text/html' }).end(page);
      else response.writeHead(200, { 'content-type': 'text/javascript' }).end(module);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ClientPages(server);
  }

  private constructor(server: Server) {
    this.#server = server;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

function moduleAt(path: string): string | undefined {
  const found = Object.entries(folders).find(([prefix]) => path.startsWith(prefix));
  if (!found) return undefined;
  const [prefix, folder] = found;
  const text = readFileSync(join(folder, path.slice(prefix.length)), 'utf8');
  return path.endsWith('.ts') ? stripTypeScriptTypes(text) : text;
}
