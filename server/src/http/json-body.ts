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
import { checkNesting } from './guards/body-limits.ts';
import { isUtf8Charset } from './media-types.ts';
import { randomInt } from 'crypto';

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
export interface ValueLimits {
  /** Members of lists and objects, and lists and objects themselves. */
  readonly values: number;
  /** Different names of members. The parser remembers each: one costs as much as ten that it has seen. */
  readonly names: number;
}
const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBracket = 0x5b;
const openBrace = 0x7b;
const space = 0x20;
/** What there is too much of, if anything. */

export function excessOf(text: Uint8Array, limits: ValueLimits): keyof ValueLimits | undefined {
  const names = new DigestSet(limits.names);
  const [factor, otherFactor] = [drawFactor(), drawFactor()];
  const [start, otherStart] = [randomInt(2 ** 32) | 0, randomInt(2 ** 32) | 0];
  let values = 0;
  for (let place = 0; place < text.length; place++) {
    const byte = text[place];
    if (byte === quote) {
      let digest = start;
      let other = otherStart;
      for (place++; place < text.length && text[place] !== quote; place++) {
        if (text[place] === backslash) place++;
        digest = Math.imul(digest ^ text[place]!, factor);
        other = Math.imul(other ^ text[place]!, otherFactor);
      }
      const isName = text[place + 1] === colon || isNamed(text, place + 1);
      if (isName && !names.add(digest, other)) return 'names';
    } else if (byte === comma || byte === openBrace || byte === openBracket) {
      if (++values > limits.values) return 'values';
    }
  }
  return undefined;
}
/** Drawn anew each time: nobody can choose names that look the same. One near 1 would hardly tell any apart. */
function drawFactor(): number {
  return (randomInt(2 ** 32) & ~7) | 5;
}
/** With white space before the colon, which hardly anybody writes. */
function isNamed(text: Uint8Array, start: number): boolean {
  let place = start;
  while (place < text.length && text[place]! <= space) place++;
  return text[place] === colon;
}
/** Counts different pairs of numbers up to a bound, in a table that is made once: 32 bits alone would mix up a few. */
class DigestSet {
  readonly #slots: Int32Array;
  readonly #mask: number;
  readonly #shift: number;
  #left: number;

  constructor(most: number) {
    const bits = Math.ceil(Math.log2(2 * most + 2));
    this.#slots = new Int32Array(2 * 2 ** bits);
    this.#mask = 2 ** bits - 1;
    this.#shift = 32 - bits;
    this.#left = most;
  }

  /** False if it is one too many. */
  add(digest: number, other: number): boolean {
    const wanted = digest || 1;
    const slots = this.#slots;
    let slot = Math.imul(wanted, 0x9e3779b1) >>> this.#shift;
    while (slots[2 * slot] !== 0) {
      if (slots[2 * slot] === wanted && slots[2 * slot + 1] === other) return true;
      slot = (slot + 1) & this.#mask;
    }
    slots[2 * slot] = wanted;
    slots[2 * slot + 1] = other;
    return --this.#left >= 0;
  }
}
