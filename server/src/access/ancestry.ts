/**
 * Where folders are: the way from the root down to each. Any number of folders costs one statement, and an ancestor
 * that they share is read once.
 */

import { inBatches, whenDone, type PromiseOrValue, type Reader } from '../database/database.ts';
import { list, sql } from '../database/statement.ts';

interface Step {
  readonly id: string;
  readonly parentId: string | null;
}

const findRootId = sql<object, { id: string }>`
  select id from folders where parent_id is null and detached_at is null`;

/** The folders, and all above them. */
export const climb = sql<{ ids: readonly string[] }, Step>`
  with recursive up (id, parent_id) as (
    select id, parent_id from folders where id in (select value from ${list('ids')})
    union
    select folders.id, folders.parent_id from up join folders on folders.id = up.parent_id
  )
  select id, parent_id as "parentId" from up`;

export class Ancestry {
  readonly #reader: Reader;
  readonly rootId: string;
  readonly #parentIds = new Map<string, string | null>();

  static begin(reader: Reader): PromiseOrValue<Ancestry> {
    return whenDone(reader.get(findRootId, {}), (root) => {
      if (!root) throw new Error('The tree has no root.');
      return new Ancestry(reader, root.id);
    });
  }

  constructor(reader: Reader, rootId: string) {
    this.#reader = reader;
    this.rootId = rootId;
    this.#parentIds.set(rootId, null);
  }

  isLoaded(id: string): boolean {
    return this.#parentIds.has(id);
  }

  /** To be awaited before `wayTo` is asked for these folders. */
  load(ids: readonly string[]): PromiseOrValue<void> {
    const unknown = ids.filter((id) => !this.isLoaded(id));
    if (unknown.length === 0) return;
    const read = (some: readonly string[]) => this.#reader.all(climb, { ids: some }, some.length);
    return whenDone(inBatches(unknown, read), (steps) => {
      for (const { id, parentId } of steps) this.#parentIds.set(id, parentId);
    });
  }

  /** For what is known already from reading the tree downwards. */
  note(id: string, parentId: string | null): void {
    this.#parentIds.set(id, parentId);
  }

  /** For what was there: the ids from the root. */
  noteWay(way: readonly string[]): void {
    way.forEach((id, place) => this.note(id, way[place - 1] ?? null));
  }

  /** The ids from the root to the folder itself; undefined if it is not, or no longer, on the tree. */
  wayTo(id: string): readonly string[] | undefined {
    const way = this.wayFromTop(id);
    return way[0] === this.rootId ? way : undefined;
  }

  /** The ids to the folder from whatever is above all of it: the root, or what was taken off the tree. */
  wayFromTop(id: string): readonly string[] {
    const way = [id];
    for (let at = id; at !== this.rootId;) {
      const parentId = this.#parentIds.get(at);
      if (!parentId) break;
      way.push(parentId);
      if (way.length > this.#parentIds.size) throw new Error(`The folder ${id} is inside itself.`);
      at = parentId;
    }
    return way.reverse();
  }
}
