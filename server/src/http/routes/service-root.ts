/** The API root, which redirects browsers to the console and lists the service's addresses, and the OpenAPI document. */

import { endpoints, createOpenApiDocument, type ServiceLinks } from '@espalier/contract';
import type { FastifyInstance } from 'fastify';
import { prefersHtml } from '../media-types.ts';
import type { HttpServices } from '../services.ts';
import { consoleRoot } from './console.ts';
import { addEndpoint, refuseOtherMethods, varyBy } from './endpoint.ts';

export function addServiceRoot(app: FastifyInstance, services: HttpServices): void {
  const { version, consoleFolder } = services;
  const { basePath } = services.settings;
  const hasConsole = typeof consoleFolder === 'string';
  const links = JSON.stringify(serviceLinks(basePath, hasConsole));
  addEndpoint(app, endpoints.service, ({ headers }, reply) => {
    varyBy(reply, 'accept');
    reply.header('cache-control', 'no-cache');
    if (hasConsole && prefersHtml(headers.accept)) return reply.redirect(basePath + consoleRoot, 302);
    return reply.header('content-type', 'application/json; charset=utf-8').send(links);
  });

  // One buffer for all responses, also for those that clients do not read.
  const document = Buffer.from(JSON.stringify(createOpenApiDocument({ url: basePath || '/', version })));
  app.get('/openapi.json', { exposeHeadRoute: true }, (_request, reply) =>
    reply.header('content-type', 'application/json; charset=utf-8').send(document),
  );
  refuseOtherMethods(app, { url: '/openapi.json' }, ['HEAD', 'GET']);
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
