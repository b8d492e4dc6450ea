/** Describes the service: the probes of supervisors and load balancers, the API root and the OpenAPI document. */

import { createOpenApiDocument, endpoints, type ProbeResponse, type ServiceLinks } from '@espalier/contract';
import type { FastifyInstance } from 'fastify';
import { singleFlight } from '../../concurrency/single-flight.ts';
import { canSign, type HealthCheck } from '../../observability/health.ts';
import { Refusal } from '../../refusal.ts';
import type { HttpServices } from '../http-services.ts';
import { prefersHtml } from '../media-types.ts';
import { consoleRoot } from './console.ts';
import { addEndpoint, refuseOtherMethods, sendJson, varyBy } from './endpoint.ts';

const retryAfterSeconds = 1;

export function addProbes(app: FastifyInstance, services: HttpServices): void {
  const { isReady } = services;
  const checkHealth = singleFlight(services.checkHealth);
  const alive: ProbeResponse = { status: 'ok' };
  addEndpoint(app, endpoints.livez, (_, reply) => sendJson(reply, alive));

  addEndpoint(app, endpoints.readyz, async ({ query }, reply) => {
    const checks = 'verbose' in (query as object) ? await checkHealth() : undefined;
    // Uses the same checks as the details, because a response must not contradict itself.
    const isUp = checks
      ? checks.every(({ name, isOk }) => name !== 'database' || isOk)
      : services.isStopping() || (await isReady());
    const details = checks ? publicDetails(checks) : {};
    const reason = whyNotReady(isUp, services);
    if (reason !== undefined) throw new Refusal('UNAVAILABLE', reason, { retryAfterSeconds, ...details });
    const ready: ProbeResponse = { status: 'ready', ...details };
    return sendJson(reply, ready);
  });
}

/** Uses only the checks that every request depends on. The other checks are for operators. */
function whyNotReady(isUp: boolean, { isStopping, findFault, keys }: HttpServices): string | undefined {
  if (isStopping()) return 'This node is stopping.';
  if (!isUp) return findFault() ?? 'The database does not respond.';
  return canSign(keys) ? undefined : 'This node cannot sign auth tokens.';
}

/** The response needs no authentication, so it names no file, no host and no other detail of the installation. */
function publicDetails(checks: readonly HealthCheck[]): Pick<ProbeResponse, 'checks' | 'reasons'> {
  const reasons = checks.flatMap(({ name, isOk, summary }) => (isOk || !summary ? [] : [[name, summary]]));
  return {
    checks: Object.fromEntries(checks.map(({ name, isOk }) => [name, isOk ? 'ok' : 'failed'])),
    ...(reasons.length > 0 && { reasons: Object.fromEntries(reasons) as Record<string, string> }),
  };
}

/** Redirects browsers from the API root to the console. Other clients receive the addresses of the endpoints. */
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

  // One buffer for all responses, including those that clients do not read.
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
