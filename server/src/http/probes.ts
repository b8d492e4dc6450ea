/** What supervisors and load balancers ask, often and without an auth token: is the process alive, may requests come? */

import { endpoints, type ProbeResponse } from '@espalier/contract';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { Refusal } from '../refusal.ts';
import { addEndpoint } from './endpoint-route.ts';

export interface ProbeServices {
  /** Whether what requests need answers. May be asked as often as anybody likes. */
  readonly isReady: () => Promise<boolean>;
  readonly isStopping: () => boolean;
}

const askAgainSeconds = 1;

export function addProbes(app: FastifyInstance, { isReady, isStopping }: ProbeServices): void {
  addEndpoint(app, endpoints.livez, (_, reply) => answerStatus(reply, 'ok'));

  addEndpoint(app, endpoints.readyz, async (_, reply) => {
    const isUp = isStopping() || (await isReady());
    if (isStopping()) throw notReady('This node is stopping.');
    if (!isUp) throw notReady('The database does not answer.');
    return answerStatus(reply, 'ready');
  });
}

function notReady(reason: string): Refusal {
  return new Refusal('UNAVAILABLE', reason, { retryAfterSeconds: askAgainSeconds });
}

function answerStatus(reply: FastifyReply, status: ProbeResponse['status']): FastifyReply {
  const body: ProbeResponse = { status };
  return reply
    .header('content-type', 'application/json; charset=utf-8')
    .header('cache-control', 'no-store')
    .send(JSON.stringify(body));
}
