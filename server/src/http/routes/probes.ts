/** What supervisors and load balancers ask, often and without an auth token: is the process alive, may requests come? */

import { endpoints, type ProbeResponse } from '@espalier/contract';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { HealthCheck } from '../../observability/health.ts';
import { Refusal } from '../../refusal.ts';
import { singleFlight } from '../../concurrency/single-flight.ts';
import { addEndpoint } from './endpoint.ts';

export interface ProbeServices {
  /** Whether what requests need answers. May be asked as often as anybody likes. */
  readonly isReady: () => Promise<boolean>;
  /** Why the database cannot be relied on, in words for anyone; undefined if nothing but silence is known. */
  readonly findFault: () => string | undefined;
  readonly isStopping: () => boolean;
  readonly canSign: () => boolean;
  readonly checkHealth: () => Promise<readonly HealthCheck[]>;
}

const askAgainSeconds = 1;

export function addProbes(app: FastifyInstance, services: ProbeServices): void {
  const { isStopping, isReady, canSign, findFault } = services;
  const checkHealth = singleFlight(services.checkHealth);
  addEndpoint(app, endpoints.livez, (_, reply) => answerStatus(reply, { status: 'ok' }));

  addEndpoint(app, endpoints.readyz, async ({ query }, reply) => {
    const checks = 'verbose' in (query as object) ? await checkHealth() : undefined;
    // By the same look: an answer must not contradict itself.
    const isUp = checks ? isDatabaseUp(checks) : isStopping() || (await isReady());
    const details = checks ? shownChecks(checks) : {};
    const fault = isUp ? undefined : (findFault() ?? 'The database does not answer.');
    const reason = whyNotReady({ isStopping: isStopping(), fault, canSign: canSign() });
    if (reason === undefined) return answerStatus(reply, { status: 'ready', ...details });
    throw new Refusal('UNAVAILABLE', reason, { retryAfterSeconds: askAgainSeconds, ...details });
  });
}

/** Of all that is checked only what leaves nothing to be served: the rest is for people, who have time. */
function whyNotReady(node: {
  readonly isStopping: boolean;
  readonly fault: string | undefined;
  readonly canSign: boolean;
}): string | undefined {
  if (node.isStopping) return 'This node is stopping.';
  if (node.fault !== undefined) return node.fault;
  return node.canSign ? undefined : 'This node cannot make auth tokens.';
}

function isDatabaseUp(checks: readonly HealthCheck[]): boolean {
  return checks.every(({ name, isOk }) => name !== 'database' || isOk);
}

/** Anyone may ask: the response names no file, no host and no other detail of the installation. */
function shownChecks(checks: readonly HealthCheck[]): Pick<ProbeResponse, 'checks' | 'reasons'> {
  const reasons = checks.flatMap(({ name, isOk, summary }) => (isOk || !summary ? [] : [[name, summary]]));
  return {
    checks: Object.fromEntries(checks.map(({ name, isOk }) => [name, isOk ? 'ok' : 'failed'])),
    ...(reasons.length > 0 && { reasons: Object.fromEntries(reasons) as Record<string, string> }),
  };
}

function answerStatus(reply: FastifyReply, body: ProbeResponse): FastifyReply {
  return reply
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(JSON.stringify(body));
}
