/**
 * A body of a token endpoint that is nested too deeply is malformed (400), also if it is longer than the endpoint takes
 * (otherwise 413). The bytes up to the length limit decide, so a long body is never held in memory.
 */

import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Refusal } from '../refusal.ts';

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
