/** Parses GraphQL requests from a body, a URL or a socket message. Checks their shape, not their query. */

import type { IncomingMessage } from 'node:http';
import { endpoints, type GraphRequest } from '@espalier/contract';
import { LRUCache } from 'lru-cache';
import { Refusal } from '../../refusal.ts';
import {
  bodyOf,
  parseJson,
  parseJsonObject,
  requireJson,
  type RequestWithBody,
  type ValueLimits,
} from '../json-body.ts';

export function toGraphRequest({
  query,
  operationName,
  variables,
  extensions,
}: Record<string, unknown>): GraphRequest {
  const extensionValues = optionalObject(extensions, 'extensions');
  // A client with automatic persisted queries sends the hash of a query and leaves out its text.
  const text = isAbsent(query) && extensionValues?.['persistedQuery'] ? '' : query;
  if (typeof text !== 'string') throw new Refusal('BAD_INPUT', 'The request must contain `query`, a string.');
  if (!isAbsent(operationName) && typeof operationName !== 'string') {
    throw new Refusal('BAD_INPUT', '`operationName` must be a string.');
  }
  return {
    query: text,
    // Some clients send an empty name instead of no name.
    operationName: operationName || null,
    variables: optionalObject(variables, 'variables'),
    extensions: extensionValues,
  };
}

export function optionalObject(value: unknown, name: string): Record<string, unknown> | null {
  if (isAbsent(value)) return null;
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new Refusal('BAD_INPUT', `\`${name}\` must be an object.`);
  }
  return value as Record<string, unknown>;
}

function isAbsent(value: unknown): value is null | undefined {
  return value === null || value === undefined;
}

/** Reads the request from the query string of a GET request. */
export function parseGraphUrl({ url = '' }: IncomingMessage): GraphRequest {
  const start = url.indexOf('?');
  const parameters = new URLSearchParams(start < 0 ? '' : url.slice(start + 1));
  return toGraphRequest({
    query: parameters.get('query'),
    operationName: parameters.get('operationName'),
    variables: jsonParameter(parameters, 'variables'),
    extensions: jsonParameter(parameters, 'extensions'),
  });
}

function jsonParameter(parameters: URLSearchParams, name: string): unknown {
  const text = parameters.get(name);
  return text ? parseJson(text, `The parameter ${name}`) : null;
}

const keyPattern = new RegExp(endpoints.graph.headers['Idempotency-Key'].pattern);

/** Checks the value of the `Idempotency-Key` header. */
export function toIdempotencyKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined || (typeof header === 'string' && keyPattern.test(header))) return header;
  throw new Refusal(
    'BAD_INPUT',
    'An Idempotency-Key must have 1 to 255 visible ASCII characters, for example a random UUID.',
  );
}

const maxCached = 1_000;
const maxCachedBytes = 2 ** 20;
const maxCachedBodyBytes = 2 * 1024;

/**
 * Parses GraphQL requests in bodies and caches short ones, because clients repeat their queries. A repeated body returns
 * the same object. Never caches a mutation, which is rarely repeated and may contain a password.
 */
export class GraphBodies {
  readonly #limits: ValueLimits;
  /** By the bytes of the body, as latin1 text. */
  readonly #cache = new LRUCache<string, GraphRequest>({
    max: maxCached,
    maxSize: maxCachedBytes,
    sizeCalculation: (_, text) => text.length,
  });

  constructor(limits: ValueLimits) {
    this.#limits = limits;
  }

  read(request: RequestWithBody): GraphRequest {
    requireJson(request);
    const body = bodyOf(request);
    const key = body && body.length <= maxCachedBodyBytes ? body.toString('latin1') : undefined;
    const cached = key === undefined ? undefined : this.#cache.get(key);
    if (cached) return cached;
    const parsed = toGraphRequest(parseJsonObject(body, this.#limits));
    // GraphQL has no escapes for keywords, so every mutation contains this word.
    if (key !== undefined && !parsed.query.includes('mutation')) {
      deepFreeze(parsed);
      this.#cache.set(key, parsed);
    }
    return parsed;
  }
}

/** A cached request is shared by all users. */
function deepFreeze(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  Object.values(value).forEach(deepFreeze);
  Object.freeze(value);
}
