/** What stands around the server, whatever is asked of it: time-outs, the number of connections, heads and loads. */

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
import type { QuickWay } from './quick-way.ts';
import { takeIn } from './request-head.ts';
import { watchSlowBodies } from './slow-bodies.ts';

export interface GuardOptions {
  readonly times: HttpTimes;
  readonly log: Logger;
  readonly activity: Activity;
  readonly broken: BrokenRequests;
  /** If there is one. */
  readonly quickWay: QuickWay | undefined;
  /** For tests. */
  readonly mostConnections?: number | undefined;
  readonly load?: Load | undefined;
  readonly pressureLimits?: PressureLimits | undefined;
}

const tellDroppedEveryMs = 60_000;

export function guard(app: FastifyInstance, options: GuardOptions): Pressure {
  const { times, log, activity, broken, quickWay } = options;
  const { server } = app;
  // Node would forget the rest: there are at most as many as fit into the head, and few of them are let in.
  server.maxHeadersCount = 0;
  server.maxConnections = options.mostConnections ?? connectionLimit();
  tellDropped(app, server.maxConnections, log);
  limitPipelining(server, mostPipelined);
  // Like any other that is refused: past the quick way, which is for those that are not.
  const expecting = new WeakSet<IncomingMessage>();
  server.on('checkExpectation', (request, response) => {
    expecting.add(request);
    app.routing(request, response);
  });

  app.addHook('onRequest', (request, reply, done) => {
    if (expecting.has(request.raw)) {
      activity.count('requests');
      answerExpectation(request, reply);
      return;
    }
    // It was taken in there, and perhaps done: it is only to be answered.
    quickWay?.throwFailure(request.raw);
    takeIn(request.raw, activity);
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
