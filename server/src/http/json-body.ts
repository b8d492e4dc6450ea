/** Reads JSON bodies strictly: the media type, UTF-8, JSON, an object, and the fields that the contract asks for. */

import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import {
  bodies,
  type AuthTokenRequest,
  type Credentials,
  type RefreshTokenRequest,
} from '@espalier/contract';
import { Refusal } from '../refusal.ts';
import { excessOf, type ValueLimits } from './body-values.ts';
import { checkNesting } from './deep-bodies.ts';
import { isUtf8Charset } from './media-types.ts';

/** Of a request, what is read here. */
export interface WithBody {
  readonly headers: IncomingHttpHeaders;
  /** A buffer, if there is any. */
  readonly body: unknown;
}

interface RequestBodies {
  Credentials: Credentials;
  RefreshTokenRequest: RefreshTokenRequest;
  AuthTokenRequest: AuthTokenRequest;
}

/** An object with each required field as a string, whatever else it holds. */
export function readBody<Name extends keyof RequestBodies>(
  request: WithBody,
  name: Name,
): RequestBodies[Name] {
  requireJson(request);
  const body = bodyOf(request);
  if (body) checkNesting(body);
  const object = parseJsonObject(body);
  for (const field of bodies[name].required) {
    if (typeof object[field] !== 'string') {
      throw new Refusal('BAD_INPUT', `The body needs the field ${field}, a string.`);
    }
  }
  return object as unknown as RequestBodies[Name];
}

/** By what the headers say of the body. */
export function requireJson(request: WithBody): void {
  if (!isEmptyBody(request) && !isJson(request.headers['content-type'])) {
    throw new Refusal('UNSUPPORTED_MEDIA_TYPE', 'The body must be sent with Content-Type: application/json.');
  }
  if (request.headers['content-encoding'] !== undefined) {
    throw new Refusal(
      'UNSUPPORTED_MEDIA_TYPE',
      'The body must be sent as it is, without a Content-Encoding.',
    );
  }
}

export function parseJsonObject(body: Buffer | undefined, limits?: ValueLimits): Record<string, unknown> {
  if (limits && body && body.length > leastCountedBytes) checkValues(body, limits);
  const value = parseJson(body);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Refusal('BAD_INPUT', 'The body must be a JSON object.');
  }
  return value as Record<string, unknown>;
}

/** A shorter body is parsed in some milliseconds, whatever it holds. */
const leastCountedBytes = 64 * 1024;

function checkValues(body: Buffer, limits: ValueLimits): void {
  const excess = excessOf(body, limits);
  if (!excess) return;
  const what = { values: 'values', names: 'different names of members' }[excess];
  throw new Refusal('TOO_LARGE', `The body holds more than ${limits[excess]} ${what}. Send it in parts.`);
}

export function bodyOf({ body }: WithBody): Buffer | undefined {
  return body as Buffer | undefined;
}

export function isEmptyBody(request: WithBody): boolean {
  const body = bodyOf(request);
  return body === undefined || body.length === 0;
}

function parseJson(body: Buffer | undefined): unknown {
  if (!body || !isUtf8(body)) throw new Refusal('BAD_INPUT', 'The body must be JSON in UTF-8.');
  try {
    return JSON.parse(body.toString('utf8', hasByteOrderMark(body) ? 3 : 0));
  } catch {
    // The parser's own message quotes the body, and with it perhaps a password.
    throw new Refusal('BAD_INPUT', 'The body must be JSON.');
  }
}

/** RFC 8259 §8.1 allows a parser to ignore it. Editors and shells on Windows write it. */
function hasByteOrderMark(body: Buffer): boolean {
  return body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
}

/** JSON is UTF-8 (RFC 8259 §8.1): another charset is another media type. */
function isJson(contentType: string | undefined): boolean {
  if (contentType === 'application/json') return true;
  const [mediaType, ...parameters] = (contentType ?? '').split(';').map((part) => part.trim().toLowerCase());
  return (
    mediaType === 'application/json' &&
    parameters.every(
      (parameter) => !parameter.startsWith('charset=') || isUtf8Charset(parameter.slice('charset='.length)),
    )
  );
}
