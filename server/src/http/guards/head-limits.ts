/** Refuses requests with ambiguous headers: a proxy in front may have interpreted them differently. */

import type { IncomingMessage } from 'node:http';
import { Refusal } from '../../refusal.ts';

const maxHeaders = 100;

/** If one is repeated, Node silently uses the first. By length, so that most names need not be compared. */
const single: Readonly<Record<number, string>> = {
  4: 'host',
  12: 'content-type',
  13: 'authorization',
  15: 'idempotency-key',
};

/**
 * Node's parser itself refuses a repeated `Content-Length`, one together with a `Transfer-Encoding`, folded lines, spaces
 * before a colon and bare line feeds.
 */
export function checkRequestHead(request: IncomingMessage): void {
  const { rawHeaders, headers, httpVersion } = request;
  if (rawHeaders.length > 2 * maxHeaders) throw malformed(`There are more than ${maxHeaders} headers.`);
  let seen = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const { length } = rawHeaders[index]!;
    const name = single[length];
    if (name === undefined || rawHeaders[index]!.toLowerCase() !== name) continue;
    const flag = 1 << length;
    if ((seen & flag) !== 0) refuseRepeated(name, request);
    seen |= flag;
  }
  if (httpVersion === '1.1') {
    if (headers.host === undefined) throw malformed('The header Host is missing.');
  } else if (httpVersion !== '1.0') throw malformed('This is not HTTP/1.1.');
  const encoding = headers['transfer-encoding'];
  // RFC 9112 §6.1: HTTP/1.0 has no Transfer-Encoding, so a proxy may have read another body.
  if (encoding !== undefined && (encoding.toLowerCase() !== 'chunked' || httpVersion !== '1.1')) {
    throw malformed('The Transfer-Encoding can only be chunked.');
  }
}

/** A repeated `Authorization` only makes authentication fail. A route without authentication accepts the request. */
function refuseRepeated(name: string, { headers }: IncomingMessage): void {
  if (name !== 'authorization') throw malformed(`The header ${name} is there twice.`);
  headers.authorization = 'repeated';
}

function malformed(message: string): Refusal {
  return new Refusal('BAD_INPUT', message);
}
