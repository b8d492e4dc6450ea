/** What supervisors and load balancers ask, often and without an auth token: is the process alive, may requests come? */

import { endpoints, type ProbeResponse } from '@espalier/contract';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { HealthCheck } from '../health.ts';
import { Refusal } from '../refusal.ts';
import { sharedLook } from '../shared-look.ts';
import { addEndpoint } from './endpoint-route.ts';

export interface ProbeServices {
  /** Whether what requests need answers. May be asked as often as anybody likes. */
  readonly isReady: () => Promise<boolean>;
  readonly isStopping: () => boolean;
  readonly canSign: () => boolean;
  readonly checkHealth: () => Promise<readonly HealthCheck[]>;
}

const askAgainSeconds = 1;
const checksHoldForMs = 250;

export function addProbes(app: FastifyInstance, services: ProbeServices): void {
  const { isStopping } = services;
  const checks = sharedLook(services.checkHealth, checksHoldForMs);
  addEndpoint(app, endpoints.livez, (_, reply) => answerStatus(reply, { status: 'ok' }));

  addEndpoint(app, endpoints.readyz, async ({ query }, reply) => {
    const reason = isStopping() ? undefined : await whyNotReady(services);
    const details = 'verbose' in (query as object) ? { checks: shownChecks(await checks()) } : {};
    const refused = isStopping() ? 'This node is stopping.' : reason;
    if (refused === undefined) return answerStatus(reply, { status: 'ready', ...details });
    throw new Refusal('UNAVAILABLE', refused, { retryAfterSeconds: askAgainSeconds, ...details });
  });
}

/** Of all that is checked only what leaves nothing to be served: the rest is for people, who have time. */
async function whyNotReady({ isReady, canSign }: ProbeServices): Promise<string | undefined> {
  if (!(await isReady())) return 'The database does not answer.';
  return canSign() ? undefined : 'This node cannot make auth tokens.';
}

/** Anybody may ask: they are told what, and not why. */
function shownChecks(checks: readonly HealthCheck[]): NonNullable<ProbeResponse['checks']> {
  return Object.fromEntries(checks.map(({ name, isOk }) => [name, isOk ? 'ok' : 'failed']));
}

function answerStatus(reply: FastifyReply, body: ProbeResponse): FastifyReply {
  return reply
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(JSON.stringify(body));
}
