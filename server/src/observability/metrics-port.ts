/** The port that Prometheus reads, apart from the one that clients use: nobody needs a token there, and nothing else is there. */

import { createServer, type Server } from 'node:http';
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
/** Those who read it are few, and do not stay. */
const mostConnections = 32;
const requestWithinMs = 10_000;

/** Rejects if the address cannot be had. */
export async function openMetricsPort(options: MetricsPortOptions): Promise<MetricsPort> {
  const { host, port, text, onError } = options;
  const server = createServer({ requestTimeout: requestWithinMs, keepAliveTimeout: requestWithinMs });
  server.maxConnections = mostConnections;
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
      (written) => response.writeHead(200, { 'content-type': contentType }).end(written),
      (error: unknown) => {
        onError(error);
        response.writeHead(500).end();
      },
    );
  });
  await listening(server, { host, port });
  const { port: taken } = server.address() as { port: number };
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${taken}${path}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function listening(server: Server, at: { host: string; port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(at, () => {
      server.off('error', reject);
      resolve();
    });
  });
}
