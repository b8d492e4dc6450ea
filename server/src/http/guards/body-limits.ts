/** Limits for request bodies: their length, their nesting, and the memory that large bodies of all users need together. */

import type { IncomingMessage } from 'node:http';
import { Readable, Transform } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { maxBytesWithoutWrite, type Graph } from '../../graph/graph.ts';
import { Refusal } from '../../refusal.ts';
import { hasBody, onFinished } from '../tcp-connections.ts';
import { checkNesting } from '../json-body.ts';
import { smallBodyBytes, type Admission } from './overload.ts';

/** Reads a body as bytes, up to the limit of its route. Fastify's own parser adds a tenth to the cost of a short request. */
export function readBytes(
  request: FastifyRequest,
  payload: IncomingMessage,
  done: (error: Error | null, body?: Buffer) => void,
): void {
  const { bodyLimit } = request.routeOptions;
  const contentLength = Number(request.headers['content-length']);
  if (contentLength > bodyLimit) return done(bodyTooLarge(bodyLimit));
  readChunks(payload, bodyLimit, (error, chunks, bytes) => {
    if (error) done(error);
    else if (bytes > bodyLimit) done(bodyTooLarge(bodyLimit));
    // Without the header, `contentLength` is NaN.
    else if (contentLength >= 0 && bytes !== contentLength) done(new Refusal('BAD_INPUT', wrongLength));
    else done(null, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, bytes));
  });
}

const wrongLength = 'The body does not have the number of bytes in the header Content-Length.';

function bodyTooLarge(limitBytes: number): Refusal {
  const isSmall = limitBytes < 2 ** 20;
  const limit = isSmall ? `${limitBytes / 2 ** 10} KiB` : `${limitBytes / 2 ** 20} MiB`;
  return new Refusal(
    'TOO_LARGE',
    `The request body is larger than the limit of ${limit} (${limitBytes} bytes). Send a smaller body, or split it into several requests.`,
  );
}

/** Reads the whole body. If the body is longer than `maxBytes`, reads only up to the chunk that exceeds the limit. */
function readChunks(
  payload: Readable,
  maxBytes: number,
  done: (error: Error | null, chunks: readonly Buffer[], bytes: number) => void,
): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  payload.on('data', onData);
  payload.on('end', finish);
  payload.on('error', onError);

  function onData(chunk: Buffer): void {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) finish();
  }

  /** The client has closed the connection, or `preParsing` has refused the body. */
  function onError(error: Error): void {
    finish(error instanceof Refusal ? error : Object.assign(error, { statusCode: 400 }));
  }

  function finish(error: Error | null = null): void {
    payload.off('data', onData);
    payload.off('end', finish);
    payload.off('error', onError);
    done(error, chunks, bytes);
  }
}

/**
 * A `preParsing` hook of the token endpoints. A deeply nested body is malformed (400), even if it is also too long
 * (otherwise 413). Only the bytes up to the length limit are checked, so a long body is never held in memory.
 */
export async function refuseDeepBody(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: Readable,
): Promise<Readable> {
  const { bodyLimit } = request.routeOptions;
  const { 'content-length': length, 'transfer-encoding': encoding } = request.headers;
  if (encoding === undefined && Number(length ?? 0) <= bodyLimit) return payload;
  const start = await readStart(payload, bodyLimit);
  if (start.length <= bodyLimit) return Readable.from(start);
  // Fastify does the same for a body that it does not read. The error handler removes the header once the rest has been read.
  reply.header('connection', 'close');
  checkNesting(start);
  throw bodyTooLarge(bodyLimit);
}

function readStart(payload: Readable, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) =>
    readChunks(payload, maxBytes, (error, chunks) => {
      payload.pause();
      if (error) reject(error);
      else resolve(Buffer.concat(chunks));
    }),
  );
}

/** Larger than any body that a route accepts. If a body is even longer, the connection may break. */
const maxDrainedBytes = 64 * 1024 * 1024;
/** After this many bytes, the body is read slowly, one chunk of up to 64 KiB at a time, so that refused clients cost little CPU. */
const maxFastBytes = 1024 * 1024;
const pauseMs = 4;

/**
 * Reads and discards the rest of the body, then calls `next` with whether it was read completely. A response that is sent
 * while the client is still sending is often lost: the connection is closed, and the client never reads the reason.
 */
export function drainBody(request: IncomingMessage, next: (isRead: boolean) => void): void {
  if (!hasBody(request) || request.readableEnded || request.destroyed) {
    next(request.readableEnded);
    return;
  }
  let receivedBytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const onData = (chunk: Buffer) => {
    receivedBytes += chunk.length;
    if (receivedBytes > maxDrainedBytes) finish();
    else if (receivedBytes > maxFastBytes) {
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
  // The request is paused if a route has begun to read it.
  request.resume();
}

/** Memory for a large body is reserved in steps of this size. */
const stepBytes = 4 * smallBodyBytes;

/** Reserves memory for a large body as it arrives, so that a client that announces a large body but sends nothing reserves nothing. */
export function limitLargeBody(
  reply: FastifyReply,
  payload: Readable,
  { admission, graph }: { admission: Admission; graph: Graph },
): Readable {
  const { request } = reply;
  if (!isLargeBody(request)) return payload;
  const viewer = request.viewer!;
  const contentLength = Number(request.headers['content-length'] ?? 0);
  let receivedBytes = 0;
  let reservedBytes = 0;
  let isAdmitted = false;
  const releases: (() => void)[] = [];
  onFinished(reply.raw, () => releases.forEach((release) => release()));
  const reserve = async (bytes: number) => {
    receivedBytes += bytes;
    if (!isAdmitted && Math.max(contentLength, receivedBytes) > maxBytesWithoutWrite) {
      isAdmitted = true;
      await graph.admitLarge(viewer);
    }
    while (receivedBytes > reservedBytes + smallBodyBytes) {
      releases.push(admission.reserveBody(viewer.userId, stepBytes));
      reservedBytes += stepBytes;
    }
  };
  const counter = new Transform({
    transform(chunk: Buffer, _, done) {
      reserve(chunk.length).then(() => done(null, chunk), done);
    },
  });
  // The request may have ended already. An upload that the client aborts is not a failure of the server.
  counter.on('error', () => undefined);
  payload.on('error', (error) => counter.destroy(error));
  return payload.pipe(counter);
}

/** False for a body that exceeds the limit of its route, because it is refused without being read. */
function isLargeBody(request: FastifyRequest): boolean {
  const { headers } = request;
  if (headers['transfer-encoding'] !== undefined) return true;
  const bytes = Number(headers['content-length'] ?? 0);
  // Fastify creates a new `routeOptions` on each access.
  return bytes > smallBodyBytes && bytes <= request.routeOptions.bodyLimit;
}
