/**
 * Where folders are, kept while nobody's access changes: whatever moves a folder, or takes it off the tree, changes that
 * number, too.
 */

import { LRUCache } from 'lru-cache';
import { isPromise, type Reader } from '../database/database.ts';
import type { KnownAccess } from './access-book.ts';
import { Ancestry } from './ancestry.ts';

interface KnownWay {
  readonly number: number;
  readonly way: readonly string[];
}

/** Counted in folders on the ways. */
const mostSteps = 100_000;

export class KnownWays {
  readonly #known = new LRUCache<string, KnownWay>({
    maxSize: mostSteps,
    sizeCalculation: ({ way }) => way.length,
  });

  /**
   * From the root to the folder, which is there as long as the number of `known` is that of the journal; undefined if it
   * is not on the tree, or would have to be waited for.
   */
  wayTo(id: string, reader: Reader, { number, access }: KnownAccess): readonly string[] | undefined {
    const found = this.#known.get(id);
    if (found?.number === number) return found.way;
    const ancestry = new Ancestry(reader, access.rootId);
    if (isPromise(ancestry.load([id]))) return undefined;
    const way = ancestry.wayTo(id);
    if (way) this.#known.set(id, { number, way });
    return way;
  }
}
