/** Reads JSON bodies strictly: the media type, UTF-8, JSON, an object, and the fields that the contract requires. */

import { isUtf8 } from 'node:buffer';
import { randomInt } from 'node:crypto';
import {
  bodies,
  type ObjectSchema,
  type AuthTokenRequest,
  type Credentials,
  type EnrolmentConfirmation,
  type EnrolmentRequest,
  type PasskeyLoginRequest,
  type RefreshTokenRequest,
  type SingleSignOnRequest,
} from '@espalier/contract';
import type { FastifyRequest } from 'fastify';
import { Refusal } from '../refusal.ts';
import { isUtf8Charset } from './media-types.ts';

/** The body is a buffer, or undefined. */
export type RequestWithBody = Pick<FastifyRequest, 'headers' | 'body'>;

interface RequestBodies {
  Credentials: Credentials;
  RefreshTokenRequest: RefreshTokenRequest;
  AuthTokenRequest: AuthTokenRequest;
  SingleSignOnRequest: SingleSignOnRequest;
  EnrolmentRequest: EnrolmentRequest;
  EnrolmentConfirmation: EnrolmentConfirmation;
  PasskeyLoginRequest: PasskeyLoginRequest;
}

/** Checks the fields that `bodies` describes: required fields exist, and each has its type. Other fields are not checked. */
export function readBody<Name extends keyof RequestBodies>(
  request: RequestWithBody,
  name: Name,
): RequestBodies[Name] {
  requireJson(request);
  const body = bodyOf(request);
  if (body) checkNesting(body);
  const object = parseJsonObject(body);
  const { required, properties }: ObjectSchema = bodies[name];
  for (const [field, { type }] of Object.entries(properties)) {
    const isRequired = required.includes(field);
    const value = object[field];
    if (hasType(value, type) || (value === undefined && !isRequired)) continue;
    const what = type === 'object' ? 'an object' : 'a string';
    const text = isRequired
      ? `The body must contain the field ${field}, ${what}.`
      : `The field ${field} of the body must be ${what}.`;
    throw new Refusal('BAD_INPUT', text);
  }
  return object as unknown as RequestBodies[Name];
}

/** `type` is a type of JSON Schema, or a list of types. */
function hasType(value: unknown, type: unknown): boolean {
  if (Array.isArray(type)) return type.some((each) => hasType(value, each));
  if (value === null) return type === 'null';
  return typeof value === type && !Array.isArray(value);
}

/** Checks the headers that describe the body. */
export function requireJson(request: RequestWithBody): void {
  if (!isEmptyBody(request) && !isJson(request.headers['content-type'])) {
    throw new Refusal('UNSUPPORTED_MEDIA_TYPE', 'Send the body with Content-Type: application/json.');
  }
  if (request.headers['content-encoding'] !== undefined) {
    throw new Refusal(
      'UNSUPPORTED_MEDIA_TYPE',
      'Send the body uncompressed, without a Content-Encoding header.',
    );
  }
}

export function parseJsonObject(body: Buffer | undefined, limits?: ValueLimits): Record<string, unknown> {
  if (limits && body && body.length > minCountedBytes) checkValues(body, limits);
  if (!body || !isUtf8(body)) throw new Refusal('BAD_INPUT', 'The body must be JSON in UTF-8.');
  // RFC 8259 §8.1 allows a parser to ignore a byte order mark. Editors and shells on Windows write it.
  const hasByteOrderMark = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
  return parseObject(body.toString('utf8', hasByteOrderMark ? 3 : 0), 'The body');
}

/** The error message starts with `name`. */
export function parseObject(text: string, name: string): Record<string, unknown> {
  const value = parseJson(text, name);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new Refusal('BAD_INPUT', `${name} must be a JSON object.`);
}

export function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message quotes the text, which may contain a password or a token.
    throw new Refusal('BAD_INPUT', `${name} must be JSON.`);
  }
}

export function bodyOf({ body }: RequestWithBody): Buffer | undefined {
  return body as Buffer | undefined;
}

export function isEmptyBody(request: RequestWithBody): boolean {
  return !bodyOf(request)?.length;
}

/** JSON is UTF-8 (RFC 8259 §8.1), so any other charset is refused. */
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

const quote = 0x22;
const comma = 0x2c;
const colon = 0x3a;
const backslash = 0x5c;
const [openBracket, closeBracket] = [0x5b, 0x5d];
const [openBrace, closeBrace] = [0x7b, 0x7d];
const space = 0x20;

/** No token endpoint reads more than one level, but unknown fields may be nested. */
const maxNesting = 64;

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
        throw new Refusal(
          'BAD_INPUT',
          `The body is nested more than ${maxNesting} levels deep. Send only the fields that this address requires.`,
        );
      }
    } else if (byte === closeBracket || byte === closeBrace) depth--;
  }
}

export interface ValueLimits {
  /** Members of lists and objects, and the lists and objects themselves. */
  readonly values: number;
  /** Different member names. The parser stores each, so a new name costs as much as ten repeated ones. */
  readonly names: number;
}

/** A shorter body is parsed in a few milliseconds in any case. */
const minCountedBytes = 64 * 1024;

function checkValues(body: Buffer, limits: ValueLimits): void {
  const excess = findExcess(body, limits);
  if (!excess) return;
  const unit = { values: 'values', names: 'different member names' }[excess];
  throw new Refusal('TOO_LARGE', `The body contains more than ${limits[excess]} ${unit}. Send it in parts.`);
}

/**
 * Returns which limit a JSON text exceeds, if any. Counts without parsing: parsing millions of small values takes seconds
 * and blocks all other requests. Does not check whether the text is JSON.
 */
export function findExcess(text: Uint8Array, limits: ValueLimits): keyof ValueLimits | undefined {
  const names = new DigestSet(limits.names);
  const [factor, otherFactor] = [drawFactor(), drawFactor()];
  const [start, otherStart] = [randomInt(2 ** 32) | 0, randomInt(2 ** 32) | 0];
  let values = 0;
  for (let index = 0; index < text.length; index++) {
    const byte = text[index];
    if (byte === quote) {
      let digest = start;
      let other = otherStart;
      for (index++; index < text.length && text[index] !== quote; index++) {
        if (text[index] === backslash) index++;
        digest = Math.imul(digest ^ text[index]!, factor);
        other = Math.imul(other ^ text[index]!, otherFactor);
      }
      const isName = text[index + 1] === colon || isBeforeColon(text, index + 1);
      if (isName && !names.add(digest, other)) return 'names';
    } else if (byte === comma || byte === openBrace || byte === openBracket) {
      if (++values > limits.values) return 'values';
    }
  }
  return undefined;
}

/** Random for each body, so that a client cannot choose names with equal digests. Not near 1, which would mix too little. */
function drawFactor(): number {
  return (randomInt(2 ** 32) & ~7) | 5;
}

/** Skips white space before the colon, which few clients write. */
function isBeforeColon(text: Uint8Array, start: number): boolean {
  let index = start;
  while (index < text.length && text[index]! <= space) index++;
  return text[index] === colon;
}

/** A hash set of pairs of numbers with a fixed size. A single number of 32 bits would not distinguish all names. */
class DigestSet {
  readonly #slots: Int32Array;
  readonly #mask: number;
  readonly #shift: number;
  #freeCount: number;

  constructor(maxSize: number) {
    const bits = Math.ceil(Math.log2(2 * maxSize + 2));
    this.#slots = new Int32Array(2 * 2 ** bits);
    this.#mask = 2 ** bits - 1;
    this.#shift = 32 - bits;
    this.#freeCount = maxSize;
  }

  /** Returns false if the set is full. */
  add(digest: number, other: number): boolean {
    // 0 marks an empty slot.
    const first = digest || 1;
    const slots = this.#slots;
    let slot = Math.imul(first, 0x9e3779b1) >>> this.#shift;
    while (slots[2 * slot] !== 0) {
      if (slots[2 * slot] === first && slots[2 * slot + 1] === other) return true;
      slot = (slot + 1) & this.#mask;
    }
    slots[2 * slot] = first;
    slots[2 * slot + 1] = other;
    return --this.#freeCount >= 0;
  }
}
