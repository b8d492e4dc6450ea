/** The port that Prometheus scrapes. It is separate from the port of clients, because it requires no token. */

import { once } from 'node:events';
import { createServer } from 'node:http';
import { contentType } from './metrics.ts';

export interface MetricsPort {
  readonly url: string;
  close(): Promise<void>;
}

export interface MetricsPortOptions {
  readonly host: string;
  readonly port: number;
  readonly text: () => Promise<string>;
  readonly onError: (error: unknown) => void;
}

const path = '/metrics';
/** Few programs scrape, each for a short time. */
const maxConnections = 32;
const requestWithinMs = 10_000;

/** Rejects if the address cannot be bound. */
export async function openMetricsPort(options: MetricsPortOptions): Promise<MetricsPort> {
  const { host, port, text, onError } = options;
  const server = createServer({ requestTimeout: requestWithinMs, keepAliveTimeout: requestWithinMs });
  server.maxConnections = maxConnections;
  server.on('request', ({ url = '', method }, response) => {
    response.setHeader('x-content-type-options', 'nosniff');
    if (url.split('?', 1)[0] !== path) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end(`There is only ${path} here.\n`);
      return;
    }
    if (method !== 'GET' && method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD' }).end();
      return;
    }
    text().then(
      (body) => response.writeHead(200, { 'content-type': contentType }).end(body),
      (error: unknown) => {
        onError(error);
        response.writeHead(500).end();
      },
    );
  });
  server.listen({ host, port });
  await once(server, 'listening');
  const { port: bound } = server.address() as { port: number };
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}${path}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
