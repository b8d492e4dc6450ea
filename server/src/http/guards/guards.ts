/** Adds the limits that apply to every request: timeouts, connections, request heads and overload. */

import { readFileSync } from 'node:fs';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { Refusal } from '../../refusal.ts';
import { refuseExpectation } from '../errors.ts';
import type { BaseServices } from '../http-services.ts';
import { lateCode, type BrokenRequests } from './broken-requests.ts';
import { Admission, LoadMonitor } from './overload.ts';
import { closeSlowBodies } from './timeouts.ts';

/** The maximum number of requests of a connection that wait behind an earlier request. */
const maxPipelined = 100;
/** More connections would need more memory than a node has. */
const maxConnections = 50_000;
/** File descriptors for the database, the log and files that are open for a short time. */
const otherFiles = 200;
const reportDroppedEveryMs = 60_000;

export function addGuards(
  app: FastifyInstance,
  { times, log, activity, guardOptions: options = {} }: BaseServices,
  brokenRequests: BrokenRequests,
): Admission {
  const { server } = app;
  // Otherwise Node would drop headers beyond its own limit. The size of the head and `checkRequestHead` limit them.
  server.maxHeadersCount = 0;
  server.maxConnections = options.maxConnections ?? connectionLimit();
  reportDroppedConnections(server, log);
  limitPipelining(server);
  // Requests with an unsupported Expect header. They are routed, so that the 417 has the usual headers and log line.
  const requestsWithExpect = new WeakSet<IncomingMessage>();
  server.on('checkExpectation', (request, response) => {
    requestsWithExpect.add(request);
    app.routing(request, response);
  });

  app.addHook('onRequest', (request, reply, done) => {
    activity.count('requests');
    if (request.headers.expect !== undefined && requestsWithExpect.has(request.raw)) {
      refuseExpectation(request, reply);
      return;
    }
    checkRequestHead(request.raw);
    done();
  });

  const stopChecking = closeSlowBodies(server, times, (socket) =>
    brokenRequests.refuse({ code: lateCode }, socket),
  );
  const monitor = new LoadMonitor((load) =>
    load.isBehind || load.isMemoryShort
      ? log.warn(
          load,
          'The server is overloaded and refuses queries and logins with 503. Add workers or nodes if this happens often.',
        )
      : log.info('the server accepts all requests again'),
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

/** If `maxConnections` are open, Node immediately closes each new connection. The open ones continue. */
function reportDroppedConnections(server: Server, log: Logger): void {
  let isReported = false;
  server.on('drop', () => {
    if (isReported) return;
    isReported = true;
    log.warn(
      { maxConnections: server.maxConnections },
      'There are too many connections, so the server closes new ones. Raise the limit of open files, or add nodes.',
    );
    setTimeout(() => (isReported = false), reportDroppedEveryMs).unref();
  });
}

/** Closes a connection with too many pipelined requests, because Node accepts them all and buffers unread responses. */
function limitPipelining(server: Server): void {
  const waitingCounts = new WeakMap<Socket, number>();
  const count = (socket: Socket, difference: number) => {
    const total = (waitingCounts.get(socket) ?? 0) + difference;
    waitingCounts.set(socket, total);
    return total;
  };
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    // A response has its socket unless it waits behind an earlier one. Only waiting responses are counted.
    if (response.socket !== null) return;
    if (count(socket, 1) > maxPipelined) socket.destroy();
    response.on('close', () => count(socket, -1));
  });
}

const maxHeaders = 100;

/** Headers that must not be repeated, because Node would silently use the first. Grouped by length, so that few names are compared. */
const singleHeaders: Readonly<Record<number, string>> = {
  4: 'host',
  12: 'content-type',
  13: 'authorization',
  15: 'idempotency-key',
};

/**
 * Refuses ambiguous headers, because a proxy in front may have interpreted them differently. Node's parser itself refuses a
 * repeated `Content-Length`, a `Content-Length` with a `Transfer-Encoding`, folded lines, spaces before a colon and bare line feeds.
 */
function checkRequestHead(request: IncomingMessage): void {
  const { rawHeaders, headers, httpVersion } = request;
  if (rawHeaders.length > 2 * maxHeaders)
    throw malformed(`The request has more than ${maxHeaders} headers. Send fewer.`);
  let seenFlags = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const { length } = rawHeaders[index]!;
    const name = singleHeaders[length];
    if (name === undefined || rawHeaders[index]!.toLowerCase() !== name) continue;
    const flag = 1 << length;
    if ((seenFlags & flag) !== 0) refuseRepeated(name, request);
    seenFlags |= flag;
  }
  if (httpVersion === '1.1') {
    if (headers.host === undefined) throw malformed('The header Host is missing. HTTP/1.1 requires it.');
  } else if (httpVersion !== '1.0') throw malformed('The server supports only HTTP/1.1 and HTTP/1.0.');
  const encoding = headers['transfer-encoding'];
  // RFC 9112 §6.1: HTTP/1.0 has no Transfer-Encoding, so a proxy may have read another body.
  if (encoding !== undefined && (encoding.toLowerCase() !== 'chunked' || httpVersion !== '1.1')) {
    throw malformed('The only supported Transfer-Encoding is chunked, in HTTP/1.1.');
  }
}

/** A repeated `Authorization` only makes authentication fail. A route without authentication accepts the request. */
function refuseRepeated(name: string, { headers }: IncomingMessage): void {
  if (name !== 'authorization') throw malformed(`The request has the header ${name} twice. Send it once.`);
  headers.authorization = 'repeated';
}

function malformed(message: string): Refusal {
  return new Refusal('BAD_INPUT', message);
}
