/** Keeps the bodies that are held in memory at the same time below a bound: those of all people, and of each. */

import type { ServerResponse } from 'node:http';
import { Transform, type Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PromiseOrValue } from '../database/database.ts';
import { smallBodyBytes, type Pressure } from './pressure.ts';

/** Counted in steps of this size. */
const stepBytes = 4 * smallBodyBytes;

/** False for a body that exceeds the limit of its route: it is refused, and never held. */
export function isLargeBody(request: FastifyRequest): boolean {
  const { headers } = request;
  if (headers['transfer-encoding'] !== undefined) return true;
  const bytes = Number(headers['content-length'] ?? 0);
  // Fastify creates `routeOptions` anew each time.
  return bytes > smallBodyBytes && bytes <= request.routeOptions.bodyLimit;
}

export interface HoldOptions {
  readonly pressure: Pressure;
  /** `admit` is called once for a body of more bytes than this. It throws to refuse the body. */
  readonly maxBytes: number;
  readonly admit: () => PromiseOrValue<void>;
}

/** As much as has come, whatever was announced: who sends nothing takes no room from others. */
export function holdAsItComes(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: Readable,
  { pressure, maxBytes, admit }: HoldOptions,
): Readable {
  const announced = Number(request.headers['content-length'] ?? 0);
  let received = 0;
  let held = 0;
  let isAdmitted = false;
  const holds: (() => void)[] = [];
  whenOver(reply.raw, () => holds.forEach((release) => release()));
  const hold = async (bytes: number) => {
    received += bytes;
    if (!isAdmitted && Math.max(announced, received) > maxBytes) {
      isAdmitted = true;
      await admit();
    }
    while (received > held + smallBodyBytes) {
      holds.push(pressure.hold(request.viewer!.userId, stepBytes));
      held += stepBytes;
    }
  };
  const counter = new Transform({
    transform(chunk: Buffer, _, done) {
      hold(chunk.length).then(() => done(null, chunk), done);
    },
  });
  // The request may be over already. A client that breaks off is not a failure of the server.
  counter.on('error', () => undefined);
  payload.on('error', (error) => counter.destroy(error));
  return payload.pipe(counter);
}

/** Calls the listener once the response is sent or its connection is closed. */
export function whenOver(response: ServerResponse, listener: () => void): void {
  const { socket } = response.req;
  if (socket.destroyed) return listener();
  if (response.socket !== null) {
    response.on('close', listener);
    return;
  }
  // It waits behind another response of its connection. Until its turn, Node does not report to it that the connection is closed.
  const over = () => {
    response.off('close', over);
    socket.off('close', over);
    listener();
  };
  response.on('close', over);
  // Up to as many as requests may wait on one connection.
  socket.setMaxListeners(0).on('close', over);
}
