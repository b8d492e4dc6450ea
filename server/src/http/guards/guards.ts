/** Limits that apply to every request: timeouts, connections, request heads and load. */

import type { IncomingMessage } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Activity } from '../../observability/activity.ts';
import { answerExpectation } from '../errors.ts';
import { lateCode, type BrokenRequests } from './broken-requests.ts';
import { connectionLimit, maxPipelined, type HttpTimeouts } from './timeouts.ts';
import { LoadMonitor } from './overload.ts';
import { Admission, type Load, type AdmissionLimits } from './overload.ts';
import { checkRequestHead } from './head-limits.ts';
import { watchSlowBodies } from './timeouts.ts';
import type { Server, ServerResponse } from 'http';
import type { Socket } from 'net';

export interface GuardOptions {
  readonly times: HttpTimeouts;
  readonly log: Logger;
  readonly activity: Activity;
  readonly broken: BrokenRequests;
  /** For tests. */
  readonly maxConnections?: number | undefined;
  readonly load?: Load | undefined;
  readonly admissionLimits?: AdmissionLimits | undefined;
}

const reportDroppedEveryMs = 60_000;

export function addGuards(app: FastifyInstance, options: GuardOptions): Admission {
  const { times, log, activity, broken } = options;
  const { server } = app;
  // Otherwise Node would drop headers beyond its own limit. The size of the head and request-head.ts limit them.
  server.maxHeadersCount = 0;
  server.maxConnections = options.maxConnections ?? connectionLimit();
  reportDropped(app, server.maxConnections, log);
  limitPipelining(server, maxPipelined);
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
  const watch = new LoadMonitor((load) =>
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
  return new Admission(options.load ?? watch, options.admissionLimits);
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
export function limitPipelining(server: Server, most: number): void {
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    // Most find the connection theirs to write to, and nobody before them.
    if (response.socket !== null) return;
    const line = ((socket as Lined)[lineOf] ??= new Line());
    if (++line.waiting > most) socket.destroy();
    response.on('close', line.onAnswered);
  });
}
/** On the connection itself: to look it up for each request would cost more than all the rest here. */
const lineOf = Symbol('line');
interface Lined extends Socket {
  [lineOf]?: Line;
}
/** One for each connection, so that a request makes nothing new. */
class Line {
  /** Of those that came when another one was not answered yet. */
  waiting = 0;
  readonly onAnswered = () => void this.waiting--;
}
