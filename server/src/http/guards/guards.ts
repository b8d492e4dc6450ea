/** Adds the limits that apply to every request: timeouts, connections, request heads and overload. */

import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { refuseExpectation } from '../errors.ts';
import type { BaseServices } from '../services.ts';
import { lateCode, type BrokenRequests } from './broken-requests.ts';
import { checkRequestHead } from './head-limits.ts';
import { Admission, LoadMonitor } from './overload.ts';
import { closeSlowBodies } from './timeouts.ts';

/** Per connection: requests that have arrived and wait behind an earlier request. */
const maxPipelined = 100;
/** More connections would need more memory than a node has. */
const maxConnections = 50_000;
/** File descriptors for the database, the log and files that are open for a short time. */
const otherFiles = 200;
const reportDroppedEveryMs = 60_000;

export function addGuards(
  app: FastifyInstance,
  { times, log, activity, guardOptions: options = {} }: BaseServices,
  broken: BrokenRequests,
): Admission {
  const { server } = app;
  // Otherwise Node would drop headers beyond its own limit. The size of the head and head-limits.ts limit them.
  server.maxHeadersCount = 0;
  server.maxConnections = options.maxConnections ?? connectionLimit();
  reportDropped(server, log);
  limitPipelining(server);
  // Requests with an unsupported Expect header. They are routed, so that the 417 has the usual headers and log line.
  const expecting = new WeakSet<IncomingMessage>();
  server.on('checkExpectation', (request, response) => {
    expecting.add(request);
    app.routing(request, response);
  });

  app.addHook('onRequest', (request, reply, done) => {
    activity.count('requests');
    if (request.headers.expect !== undefined && expecting.has(request.raw)) {
      refuseExpectation(request, reply);
      return;
    }
    checkRequestHead(request.raw);
    done();
  });

  const stopChecking = closeSlowBodies(server, times, (socket) => broken.refuse({ code: lateCode }, socket));
  const monitor = new LoadMonitor((load) =>
    load.isBehind || load.isMemoryShort
      ? log.warn(load, 'too much to do: requests are refused')
      : log.info('requests are served again'),
  );
  const stopMonitor = options.load ? () => undefined : monitor.start();
  app.addHook('onClose', (_, done) => {
    stopChecking();
    stopMonitor();
    done();
  });
  return new Admission(options.load ?? monitor, options.admissionLimits);
}

/** Each connection needs a file descriptor. Without a free one, the database could not open its files. */
function connectionLimit(): number {
  const openFiles = openFilesLimit();
  return Math.min(maxConnections, Math.max(openFiles - otherFiles, Math.ceil(openFiles / 2)));
}

/** Known on Linux only. Node has raised the soft limit to the hard limit. */
function openFilesLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}

/** Beyond `maxConnections`, Node closes each new connection at once. Open ones continue. */
function reportDropped(server: Server, log: Logger): void {
  let isReported = false;
  server.on('drop', () => {
    if (isReported) return;
    isReported = true;
    log.warn({ mostConnections: server.maxConnections }, 'too many connections: new ones are ended');
    setTimeout(() => (isReported = false), reportDroppedEveryMs).unref();
  });
}

/**
 * Closes a connection with too many pipelined requests. Node accepts all requests of one read, which can be more than a
 * thousand, and buffers their responses if the client does not read them.
 */
function limitPipelining(server: Server): void {
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    // A response has its socket unless it waits behind an earlier one. Only waiting responses are counted.
    if (response.socket !== null) return;
    const pipelined = ((socket as PipelinedSocket)[pipelinedKey] ??= new PipelinedRequests());
    if (++pipelined.waiting > maxPipelined) socket.destroy();
    response.on('close', pipelined.onClose);
  });
}

/** Stored on the socket itself, because a lookup in a map for each request costs more. */
const pipelinedKey = Symbol('pipelined requests');

interface PipelinedSocket extends Socket {
  [pipelinedKey]?: PipelinedRequests;
}

/** One object and one listener per connection, so that a request allocates nothing. */
class PipelinedRequests {
  waiting = 0;
  readonly onClose = () => void this.waiting--;
}
