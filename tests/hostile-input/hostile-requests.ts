/** Generates an endless sequence of hostile requests from a seed. */

import { Random } from '../many-nodes/chaos/random.ts';
import { hostileBody, hostileQuery } from './bodies-and-queries.ts';
import { GraphDocuments } from './graph-documents.ts';
import type { HostileRequest, Kind } from './hostile-request.ts';
import { hostileHttp } from './http-requests.ts';
import { hostileSocket } from './socket-messages.ts';

/** The share of each kind. */
const shares: readonly [Kind, number][] = [
  ['http', 0.3],
  ['body', 0.46],
  ['graph', 0.2],
  ['socket', 0.04],
];

export function* hostileRequests(seed: number): Generator<HostileRequest, never> {
  const random = new Random(seed);
  const documents = new GraphDocuments();
  const make: Record<Kind, () => HostileRequest> = {
    http: () => hostileHttp(random),
    body: () => hostileBody(random),
    graph: () => hostileQuery(random, documents),
    socket: () => hostileSocket(random, documents),
  };
  for (;;) {
    let index = random.next();
    const [kind] = shares.find(([, share]) => (index -= share) < 0) ?? shares[0]!;
    yield make[kind]();
  }
}
