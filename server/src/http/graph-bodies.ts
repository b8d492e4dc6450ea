/**
 * Graph requests in bodies. Clients repeat their queries: a short body that comes again is neither parsed nor checked
 * again, and is the same object again. Never keeps a mutation, which hardly comes again and may hold a password.
 */

import type { GraphRequest } from '@espalier/contract';
import { LRUCache } from 'lru-cache';
import type { ValueLimits } from './body-values.ts';
import { toGraphRequest } from './graph-request.ts';
import { bodyOf, parseJsonObject, requireJson, type WithBody } from './json-body.ts';

const mostKept = 1_000;
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
