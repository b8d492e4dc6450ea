/** Limits that apply to every request: timeouts, connections, request heads and load. */

import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Activity } from '../activity.ts';
import { answerExpectation } from './answers.ts';
import { lateCode, type BrokenRequests } from './broken-requests.ts';
import { connectionLimit, mostPipelined, type HttpTimes } from './http-times.ts';
import { LoadWatch } from './load-watch.ts';
import { limitPipelining } from './pipelining.ts';
import { Pressure, type Load, type PressureLimits } from './pressure.ts';
import { checkRequestHead } from './request-head.ts';
import { watchSlowBodies } from './slow-bodies.ts';

export interface GuardOptions {
  readonly times: HttpTimes;
  readonly log: Logger;
  readonly activity: Activity;
  readonly broken: BrokenRequests;
  /** For tests. */
  readonly mostConnections?: number | undefined;
  readonly load?: Load | undefined;
  readonly pressureLimits?: PressureLimits | undefined;
}

const reportDroppedEveryMs = 60_000;

export function guard(app: FastifyInstance, options: GuardOptions): Pressure {
  const { times, log, activity, broken } = options;
  const { server } = app;
  // Otherwise Node would drop headers beyond its own limit. The size of the head and request-head.ts limit them.
  server.maxHeadersCount = 0;
  server.maxConnections = options.mostConnections ?? connectionLimit();
  reportDropped(app, server.maxConnections, log);
  limitPipelining(server, mostPipelined);
  const expecting = new WeakSet<IncomingMessage>();
  server.on('checkExpectation', (request, response) => {
    expecting.add(request);
    app.routing(request, response);
  });

  app.addHook('onRequest', (request, reply, done) => {
    activity.count('requests');
    if (request.headers.expect !== undefined && expecting.has(request.raw)) {
      answerExpectation(request, reply);
      return;
    }
    checkRequestHead(request.raw);
    done();
  });

  const stopWatching = watchSlowBodies(server, times, (socket) => broken.refuse({ code: lateCode }, socket));
  const watch = new LoadWatch((load) =>
    load.isBehind || load.isMemoryShort
      ? log.warn(load, 'too much to do: requests are refused')
      : log.info('requests are served again'),
  );
  const stopLooking = options.load ? () => undefined : watch.start();
  app.addHook('onClose', (_, done) => {
    stopWatching();
    stopLooking();
    done();
  });
  return new Pressure(options.load ?? watch, options.pressureLimits);
}

/** Beyond this number Node closes each new connection at once. Open ones continue. */
function reportDropped({ server }: FastifyInstance, mostConnections: number, log: Logger): void {
  let isReported = false;
  server.on('drop', () => {
    if (isReported) return;
    isReported = true;
    log.warn({ mostConnections }, 'too many connections: new ones are ended');
    setTimeout(() => (isReported = false), reportDroppedEveryMs).unref();
  });
}
