/** Reads a body as bytes, up to the limit of its route. Fastify's own reader adds a tenth to the cost of a short request. */

import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { Refusal } from '../refusal.ts';

/** A content type parser of Fastify. */
export function readBytes(
  request: FastifyRequest,
  payload: IncomingMessage,
  done: (error: Error | null, body?: Buffer) => void,
): void {
  const { bodyLimit } = request.routeOptions;
  const announced = Number(request.headers['content-length']);
  if (announced > bodyLimit) return done(new Refusal('TOO_LARGE'));
  let chunks: Buffer[] | undefined;
  let body: Buffer | undefined;
  let bytes = 0;
  payload.on('data', onData);
  payload.on('end', onEnd);
  payload.on('error', onError);

  function onData(chunk: Buffer): void {
    bytes += chunk.length;
    if (bytes > bodyLimit) return finish(new Refusal('TOO_LARGE'));
    if (body) (chunks ??= [body]).push(chunk);
    else body = chunk;
  }

  function onEnd(): void {
    // Without the header, `announced` is not a number.
    if (announced >= 0 && bytes !== announced) return finish(new Refusal('BAD_INPUT'));
    finish(null, chunks ? Buffer.concat(chunks, bytes) : (body ?? Buffer.alloc(0)));
  }

  /** The client has closed the connection, or `preParsing` has refused the body. */
  function onError(error: Error): void {
    finish(error instanceof Refusal ? error : Object.assign(error, { statusCode: 400 }));
  }

  function finish(error: Error | null, read?: Buffer): void {
    payload.off('data', onData);
    payload.off('end', onEnd);
    payload.off('error', onError);
    done(error, read);
  }
}
