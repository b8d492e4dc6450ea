/** How long clients may take for what they send, and how many may be there: see docs/limits.md. */

import { readFileSync } from 'node:fs';
import type { ServerOptions } from 'node:http';

export interface HttpTimes {
  /** From a connection, or the first byte of a further request, to the end of its headers. */
  readonly headersMs: number;
  /** From there to the end of the body, and longer by a second for each `bodyBytesPerSecond` that have come. */
  readonly bodyMs: number;
  readonly bodyBytesPerSecond: number;
  /** However steadily it comes. */
  readonly longestBodyMs: number;
  /** Between two requests on one connection. Longer than what proxies wait, or they would meet a closed one. */
  readonly keepAliveMs: number;
  /** From a connection to a finished TLS handshake. */
  readonly handshakeMs: number;
  /** For taking in something of a long answer. */
  readonly stalledAnswerMs: number;
  /** How often all of that is looked at. */
  readonly checkEveryMs: number;
}

export const usualTimes: HttpTimes = {
  headersMs: 20_000,
  bodyMs: 20_000,
  bodyBytesPerSecond: 16 * 1024,
  longestBodyMs: 300_000,
  keepAliveMs: 72_000,
  handshakeMs: 20_000,
  stalledAnswerMs: 60_000,
  checkEveryMs: 1_000,
};

/** Of the request line and all headers together. */
export const mostHeadBytes = 16 * 1024;

/** What Node's server is made with. */
export function serverOptions({ headersMs, checkEveryMs }: HttpTimes): ServerOptions {
  return {
    headersTimeout: headersMs,
    connectionsCheckingInterval: checkEveryMs,
    maxHeaderSize: mostHeadBytes,
    insecureHTTPParser: false,
    // It is asked for in request-head.ts, where the refusal has a body.
    requireHostHeader: false,
  };
}

/** Requests of one connection that came while an earlier one was not answered, and are not answered yet themselves. */
export const mostPipelined = 100;

/** A node with more has no memory for them. */
const mostConnections = 50_000;
/** For the database, the log, and what is opened for a moment. */
const otherFiles = 200;

/** Each takes a file descriptor, and without one left the database could not open its files. */
export function connectionLimit(openFiles = openFilesLimit()): number {
  return Math.min(mostConnections, Math.max(openFiles - otherFiles, Math.ceil(openFiles / 2)));
}

/** Linux tells; Node has raised it as far as it may. */
function openFilesLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}
