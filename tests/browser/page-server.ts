/** Serves pages to a browser from an origin other than that of the API. */

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';

export interface ServedFile {
  readonly type: string;
  readonly content: string | Buffer;
}

/** Finds a file by request path. Returns undefined or throws if there is none. */
export type FindFile = (path: string) => ServedFile | undefined;

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.ts': 'text/javascript',
  '.css': 'text/css',
};

export function typeOf(path: string): string {
  return types[extname(path)] ?? 'application/octet-stream';
}

export function filesIn(folder: string): FindFile {
  return (path) => {
    const name = path === '/' ? '/index.html' : path;
    return { type: typeOf(name), content: readFileSync(join(folder, name)) };
  };
}

export class PageServer {
  readonly origin: string;
  readonly #server: Server;

  static async start(find: FindFile): Promise<PageServer> {
    const server = createServer((request, response) => {
      try {
        const { type, content } = find(new URL(request.url!, 'http://page').pathname)!;
        response.setHeader('content-type', type);
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
