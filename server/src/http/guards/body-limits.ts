/** Keeps the bodies that are held in memory at the same time below a bound: those of all people, and of each. */

import type { ServerResponse } from 'node:http';
import { Transform, type Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import { smallBodyBytes, type Admission } from './overload.ts';
import type { IncomingMessage } from 'http';
import { Refusal } from '../../refusal.ts';

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
  readonly pressure: Admission;
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
      holds.push(pressure.reserveBody(request.viewer!.userId, stepBytes));
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
/** Larger than any body that a route accepts. Beyond it, the connection may break. */
const maxBytes = 64 * 1024 * 1024;
/** The rest of a longer body is read slowly, one chunk of up to 64 KiB at a time, so that refused clients do not keep the server busy. */
const maxBytesAtOnce = 1024 * 1024;
const pauseMs = 4;
/** Reads and discards the rest of the body, then calls `next`: at once if there is none. Passes whether the whole body was read. */

export function drainBody(request: IncomingMessage, next: (isRead: boolean) => void): void {
  if (!hasBody(request) || request.readableEnded || request.destroyed) {
    next(request.readableEnded);
    return;
  }
  let received = 0;
  let timer: NodeJS.Timeout | undefined;
  const onData = (chunk: Buffer) => {
    received += chunk.length;
    if (received > maxBytes) finish();
    else if (received > maxBytesAtOnce) {
      request.pause();
      timer = setTimeout(() => request.resume(), pauseMs);
    }
  };
  const finish = () => {
    clearTimeout(timer);
    request.off('data', onData).off('end', finish).off('close', finish).off('error', finish);
    next(request.readableEnded);
  };
  request.on('data', onData).on('end', finish).on('close', finish).on('error', finish);
  // Paused if a route has begun to read it.
  request.resume();
}
/** By the request's headers. */

export function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return (length !== undefined && length !== '0') || headers['transfer-encoding'] !== undefined;
}
/** No token endpoint reads more than one level; unknown fields may hold more. */
const maxNesting = 64;
const [quote, backslash] = [0x22, 0x5c];
const [openBracket, closeBracket] = [0x5b, 0x5d];
const [openBrace, closeBrace] = [0x7b, 0x7d];
/** Throws if lists and objects in this JSON text are nested too deeply. Does not check whether it is JSON. */

export function checkNesting(text: Uint8Array): void {
  let depth = 0;
  for (let index = 0; index < text.length; index++) {
    const byte = text[index];
    if (byte === quote) {
      for (index++; index < text.length && text[index] !== quote; index++) {
        if (text[index] === backslash) index++;
      }
    } else if (byte === openBracket || byte === openBrace) {
      if (++depth > maxNesting) {
        throw new Refusal('BAD_INPUT', `The body is nested more than ${maxNesting} levels deep.`);
      }
    } else if (byte === closeBracket || byte === closeBrace) depth--;
  }
}
/** A `preParsing` hook: Fastify refuses a long body with 413 before it reads the first byte. */

export async function refuseDeepBody(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: Readable,
): Promise<Readable> {
  const { bodyLimit } = request.routeOptions;
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (encoding === undefined && Number(length ?? 0) <= bodyLimit) return payload;
  const start = await readUpTo(payload, bodyLimit);
  if (start.length <= bodyLimit) return Readable.from(start);
  // As Fastify does for a body that it does not read. The error handler removes it once the rest has been read.
  reply.header('connection', 'close');
  checkNesting(start);
  throw new Refusal('TOO_LARGE');
}
/** The whole body, or its beginning if it is longer than that. */
function readUpTo(payload: Readable, bytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let received = 0;
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      received += chunk.length;
      if (received > bytes) finish();
    };
    const finish = () => {
      payload.off('data', onData).off('end', finish).off('error', onError).pause();
      resolve(Buffer.concat(chunks));
    };
    // The status is Fastify's mark of a body whose connection broke.
    const onError = (error: Error) => reject(Object.assign(error, { statusCode: 400 }));
    payload.on('data', onData).on('end', finish).on('error', onError);
  });
}
