/** What stands around the server, whatever is asked of it: time-outs, the number of connections, heads and loads. */

import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Activity } from '../activity.ts';
import { answerBrokenRequest, answerExpectation } from './answers.ts';
import { connectionLimit, mostPipelined, type HttpTimes } from './http-times.ts';
import { LoadWatch } from './load-watch.ts';
import { limitPipelining } from './pipelining.ts';
import { Pressure, type Load, type PressureLimits } from './pressure.ts';
import type { QuickWay } from './quick-way.ts';
import { takeIn } from './request-head.ts';
import { watchSlowBodies } from './slow-bodies.ts';

export interface GuardOptions {
  readonly times: HttpTimes;
  readonly log: Logger;
  readonly activity: Activity;
  readonly nextRequestId: () => string;
  /** If there is one. */
  readonly quickWay: QuickWay | undefined;
  /** For tests. */
  readonly mostConnections?: number | undefined;
  readonly load?: Load | undefined;
  readonly pressureLimits?: PressureLimits | undefined;
}

const tellDroppedEveryMs = 60_000;

export function guard(app: FastifyInstance, options: GuardOptions): Pressure {
  const { times, log, activity, nextRequestId, quickWay } = options;
  const { server } = app;
  // Node would forget the rest: there are at most as many as fit into the head, and few of them are let in.
  server.maxHeadersCount = 0;
  server.maxConnections = options.mostConnections ?? connectionLimit();
  tellDropped(app, server.maxConnections, log);
  limitPipelining(server, mostPipelined);
  server.on('checkExpectation', (request, response) => answerExpectation(request, response, nextRequestId()));

  app.addHook('onRequest', (request, _, done) => {
    // It was taken in there, and perhaps done: it is only to be answered.
    quickWay?.throwFailure(request.raw);
    takeIn(request.raw, activity);
    done();
  });

  const stopWatching = watchSlowBodies(server, times, (socket) =>
    answerBrokenRequest({ code: 'ERR_HTTP_REQUEST_TIMEOUT' }, socket, nextRequestId()),
  );
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

/** Beyond the bound Node ends a new connection at once; those that are open go on. */
function tellDropped({ server }: FastifyInstance, mostConnections: number, log: Logger): void {
  let isTold = false;
  server.on('drop', () => {
    if (isTold) return;
    isTold = true;
    log.warn({ mostConnections }, 'too many connections: new ones are ended');
    setTimeout(() => (isTold = false), tellDroppedEveryMs).unref();
  });
}
