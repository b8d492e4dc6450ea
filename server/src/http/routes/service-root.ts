/** The API root: redirects browsers to the console and lists the addresses of the service for programs. */

import { endpoints, type ServiceLinks } from '@espalier/contract';
import type { FastifyInstance } from 'fastify';
import { consoleRoot } from './console.ts';
import { addEndpoint, varyBy } from './endpoint.ts';
import { prefersHtml } from '../media-types.ts';

export interface ServiceRootOptions {
  /** Without a slash at its end. */
  readonly basePath: string;
  /** The console is enabled and has been built. */
  readonly hasConsole: boolean;
}

export function addServiceRoot(app: FastifyInstance, { basePath, hasConsole }: ServiceRootOptions): void {
  const document = JSON.stringify(serviceLinks(basePath, hasConsole));
  addEndpoint(app, endpoints.service, ({ headers }, reply) => {
    varyBy(reply, 'accept');
    reply.header('cache-control', 'no-cache');
    if (hasConsole && prefersHtml(headers.accept)) return reply.redirect(basePath + consoleRoot, 302);
    return reply.header('content-type', 'application/json; charset=utf-8').send(document);
  });
}

function serviceLinks(basePath: string, hasConsole: boolean): ServiceLinks {
  const { login, refresh, logout, verify, graph, keySet, livez, readyz } = endpoints;
  return {
    name: 'Espalier',
    links: {
      login: basePath + login.path,
      refresh: basePath + refresh.path,
      logout: basePath + logout.path,
      verify: basePath + verify.path,
      graphql: basePath + graph.path,
      keys: basePath + keySet.path,
      health: basePath + livez.path,
      ready: basePath + readyz.path,
      docs: `${basePath}/openapi.json`,
      ...(hasConsole && { console: basePath + consoleRoot }),
    },
  };
}
