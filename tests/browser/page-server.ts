/** Serves the files of a folder to a browser, from an origin that is not the API's. */

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
};

export class PageServer {
  readonly origin: string;
  readonly #server: Server;

  static async start(folder: string): Promise<PageServer> {
    const server = createServer((request, response) => {
      const { pathname } = new URL(request.url!, 'http://page');
      const name = pathname === '/' ? '/index.html' : pathname;
      try {
        const content = readFileSync(join(folder, name));
        response.setHeader('content-type', types[extname(name)] ?? 'application/octet-stream');
        response.end(content);
      } catch {
        response.writeHead(404).end();
      }
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new PageServer(server);
  }

  private constructor(server: Server) {
    this.#server = server;
    this.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}
