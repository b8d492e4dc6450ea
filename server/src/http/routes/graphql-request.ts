/** A graph request as clients send it, in a body, in a URL or over a socket: its shape is checked, not its query. */

import { endpoints, type GraphRequest } from '@espalier/contract';
import { Refusal } from '../../refusal.ts';
import { LRUCache } from 'lru-cache/raw';
import type { ValueLimits } from '../json-body.ts';
import { type WithBody, requireJson, bodyOf, parseJsonObject } from '../json-body.ts';

export function toGraphRequest({
  query,
  operationName,
  variables,
  extensions,
}: Record<string, unknown>): GraphRequest {
  const extensionValues = optionalObject(extensions, 'extensions');
  // A client with automatic persisted queries sends the hash of a query and leaves out its text.
  const text = isAbsent(query) && extensionValues?.['persistedQuery'] ? '' : query;
  if (typeof text !== 'string') throw new Refusal('BAD_INPUT', 'The request needs `query`, a string.');
  if (!isAbsent(operationName) && typeof operationName !== 'string') {
    throw new Refusal('BAD_INPUT', '`operationName` must be a string.');
  }
  return {
    query: text,
    // Some clients send an empty name for none.
    operationName: operationName || null,
    variables: optionalObject(variables, 'variables'),
    extensions: extensionValues,
  };
}

const keyPattern = new RegExp(endpoints.graph.headers['Idempotency-Key'].pattern);

/** Of the header of that name. */
export function toIdempotencyKey(given: string | string[] | undefined): string | undefined {
  if (given === undefined || (typeof given === 'string' && keyPattern.test(given))) return given;
  throw new Refusal(
    'BAD_INPUT',
    'An Idempotency-Key has 1 to 255 visible ASCII characters. A random UUID is a good one.',
  );
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
const mostKept = 1000;
const mostBytesKept = 2 ** 20;
const longestKept = 2 * 1024;

export class GraphBodies {
  readonly #limits: ValueLimits;
  /** By the body's bytes, as characters. */
  readonly #known = new LRUCache<string, GraphRequest>({
    max: mostKept,
    maxSize: mostBytesKept,
    sizeCalculation: (_, text) => text.length,
  });

  constructor(limits: ValueLimits) {
    this.#limits = limits;
  }

  read(request: WithBody): GraphRequest {
    requireJson(request);
    const body = bodyOf(request);
    if (!body || body.length > longestKept) return toGraphRequest(parseJsonObject(body, this.#limits));
    const text = body.toString('latin1');
    return this.#known.get(text) ?? this.#readNew(body, text);
  }

  #readNew(body: Buffer, text: string): GraphRequest {
    const given = toGraphRequest(parseJsonObject(body, this.#limits));
    // The word cannot be written in another way.
    if (given.query.includes('mutation')) return given;
    freeze(given);
    this.#known.set(text, given);
    return given;
  }
}
/** All of it: it is everybody's. */
function freeze(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  Object.values(value).forEach(freeze);
  Object.freeze(value);
}
