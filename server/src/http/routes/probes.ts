/** The probes of supervisors and load balancers: whether the process is alive, and whether it can serve requests. */

import { endpoints, type ProbeResponse } from '@espalier/contract';
import type { FastifyInstance } from 'fastify';
import { singleFlight } from '../../concurrency/single-flight.ts';
import { canSign, type HealthCheck } from '../../observability/health.ts';
import { Refusal } from '../../refusal.ts';
import type { HttpServices } from '../services.ts';
import { addEndpoint, sendJson } from './endpoint.ts';

const retryAfterSeconds = 1;

export function addProbes(app: FastifyInstance, services: HttpServices): void {
  const { isReady } = services;
  const checkHealth = singleFlight(services.checkHealth);
  const alive: ProbeResponse = { status: 'ok' };
  addEndpoint(app, endpoints.livez, (_, reply) => sendJson(reply, alive));

  addEndpoint(app, endpoints.readyz, async ({ query }, reply) => {
    const checks = 'verbose' in (query as object) ? await checkHealth() : undefined;
    // By the same checks as the details: a response must not contradict itself.
    const isUp = checks ? isDatabaseUp(checks) : services.isStopping() || (await isReady());
    const details = checks ? publicDetails(checks) : {};
    const reason = whyNotReady(isUp, services);
    if (reason !== undefined) throw new Refusal('UNAVAILABLE', reason, { retryAfterSeconds, ...details });
    const ready: ProbeResponse = { status: 'ready', ...details };
    return sendJson(reply, ready);
  });
}

/** Only the checks without which no request can be served. Operators read the others. */
function whyNotReady(isUp: boolean, { isStopping, findFault, keys }: HttpServices): string | undefined {
  if (isStopping()) return 'This node is stopping.';
  if (!isUp) return findFault() ?? 'The database does not answer.';
  return canSign(keys) ? undefined : 'This node cannot make auth tokens.';
}

function isDatabaseUp(checks: readonly HealthCheck[]): boolean {
  return checks.every(({ name, isOk }) => name !== 'database' || isOk);
}

/** Without authentication, so the response names no file, no host and no other detail of the installation. */
function publicDetails(checks: readonly HealthCheck[]): Pick<ProbeResponse, 'checks' | 'reasons'> {
  const reasons = checks.flatMap(({ name, isOk, summary }) => (isOk || !summary ? [] : [[name, summary]]));
  return {
    checks: Object.fromEntries(checks.map(({ name, isOk }) => [name, isOk ? 'ok' : 'failed'])),
    ...(reasons.length > 0 && { reasons: Object.fromEntries(reasons) as Record<string, string> }),
  };
}
