/** Refuses requests whose headers could be read in two ways: what a proxy in front made of them may be something else. */

import type { IncomingMessage } from 'node:http';
import type { Activity } from '../activity.ts';
import { Refusal } from '../refusal.ts';

const mostHeaders = 100;

/** Of several, Node keeps the first and says nothing. By length, so that most names need not be looked at. */
const single: Readonly<Record<number, string>> = {
  4: 'host',
  12: 'content-type',
  13: 'authorization',
  15: 'idempotency-key',
};

/** The first of all that is done with a request, whichever way it goes. */
export function takeIn(request: IncomingMessage, activity: Activity): void {
  activity.count('requests');
  checkRequestHead(request);
}

/**
 * Of what Node's parser lets pass; it refuses a `Content-Length` that is repeated or beside a `Transfer-Encoding`, folded
 * lines, spaces before a colon and bare line feeds by itself.
 */
function checkRequestHead(request: IncomingMessage): void {
  const { rawHeaders, headers, httpVersion } = request;
  if (rawHeaders.length > 2 * mostHeaders) throw malformed(`There are more than ${mostHeaders} headers.`);
  let seen = 0;
  for (let place = 0; place < rawHeaders.length; place += 2) {
    const { length } = rawHeaders[place]!;
    const name = single[length];
    if (name === undefined || rawHeaders[place]!.toLowerCase() !== name) continue;
    const flag = 1 << length;
    if ((seen & flag) !== 0) refuseRepeated(name, request);
    seen |= flag;
  }
  if (httpVersion === '1.1') {
    if (headers.host === undefined) throw malformed('The header Host is missing.');
  } else if (httpVersion !== '1.0') throw malformed('This is not HTTP/1.1.');
  const encoding = headers['transfer-encoding'];
  // RFC 9112 §6.1: HTTP/1.0 has none, so somebody on the way may have read another body.
  if (encoding !== undefined && (encoding.toLowerCase() !== 'chunked' || httpVersion !== '1.1')) {
    throw malformed('The Transfer-Encoding can only be chunked.');
  }
}

/** No bearer token can be made of two; an endpoint that asks for none is not concerned. */
function refuseRepeated(name: string, { headers }: IncomingMessage): void {
  if (name !== 'authorization') throw malformed(`The header ${name} is there twice.`);
  headers.authorization = 'repeated';
}

function malformed(message: string): Refusal {
  return new Refusal('BAD_INPUT', message);
}
