/** Keeps the bodies that are held in memory at the same time below a bound: those of all people, and of each. */

import { Transform, type Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { smallBodyBytes, type Pressure } from './pressure.ts';

/** In so large steps, so that there are few of them. */
const stepBytes = 4 * smallBodyBytes;

/** By the announced length, before any of it is read. Held until the request is answered. */
export function holdBody(request: FastifyRequest, reply: FastifyReply, pressure: Pressure): void {
  const bytes = Number(request.headers['content-length'] ?? 0);
  // What is longer than the endpoint takes is refused, and never held.
  if (bytes <= smallBodyBytes || bytes > request.routeOptions.bodyLimit) return;
  reply.raw.once('close', pressure.hold(request.viewer!.userId, bytes));
}

/** For a body of unknown length: as much as has come. */
export function holdAsItComes(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: Readable,
  pressure: Pressure,
): Readable {
  let received = 0;
  let held = 0;
  const holds: (() => void)[] = [];
  reply.raw.once('close', () => holds.forEach((release) => release()));
  const counter = new Transform({
    transform(chunk: Buffer, _, done) {
      received += chunk.length;
      try {
        while (received > held + smallBodyBytes) {
          holds.push(pressure.hold(request.viewer!.userId, stepBytes));
          held += stepBytes;
        }
      } catch (error) {
        done(error as Error);
        return;
      }
      done(null, chunk);
    },
  });
  payload.on('error', (error) => counter.destroy(error));
  return payload.pipe(counter);
}
