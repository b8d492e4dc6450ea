/** A list of sub-folders as Relay's cursor connections have it: https://relay.dev/graphql/connections.htm */

import { whenDone, type PromiseOrValue } from '../database/database.ts';
import { fromCursor, toCursor } from '../folders/cursor.ts';
import { hasChildrenAtOrAfter, hasChildrenAtOrBefore, type Slice } from '../folders/folders.ts';
import { Refusal } from '../refusal.ts';
import type { ChildNodes, FolderNode } from './folder-level.ts';

export interface ConnectionArguments {
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | null | undefined;
  readonly before?: string | null | undefined;
}

export interface FolderEdge {
  readonly node: FolderNode;
  readonly parent: FolderNode;
}

/** Reads only what the query selects: a count alone reads no folders, and folders alone are not counted. */
export class FolderConnection {
  readonly #parent: FolderNode;
  readonly #slice: Slice;

  constructor(parent: FolderNode, given: ConnectionArguments) {
    this.#parent = parent;
    this.#slice = toSlice(parent.id, given);
  }

  get items(): PromiseOrValue<readonly FolderNode[]> {
    return whenDone(this.#children(), ({ nodes }) => nodes);
  }

  get edges(): PromiseOrValue<readonly FolderEdge[]> {
    const parent = this.#parent;
    return whenDone(this.#children(), ({ nodes }) => nodes.map((node) => ({ node, parent })));
  }

  get totalCount(): PromiseOrValue<number> {
    return this.#parent.level.childCountOf(this.#parent.id);
  }

  get startCursor(): PromiseOrValue<string | null> {
    return this.#cursorAt(0);
  }

  get endCursor(): PromiseOrValue<string | null> {
    return this.#cursorAt(-1);
  }

  get hasNextPage(): PromiseOrValue<boolean> {
    return whenDone(this.#children(), ({ isCut }) => {
      if (isCut && !this.#slice.isFromEnd) return true;
      const { before } = this.#slice;
      return before ? hasChildrenAtOrAfter(this.#parent.level.reader, this.#parent.id, before) : false;
    });
  }

  get hasPreviousPage(): PromiseOrValue<boolean> {
    return whenDone(this.#children(), ({ isCut }) => {
      if (isCut && this.#slice.isFromEnd) return true;
      const { after } = this.#slice;
      return after ? hasChildrenAtOrBefore(this.#parent.level.reader, this.#parent.id, after) : false;
    });
  }

  #children(): PromiseOrValue<ChildNodes> {
    return this.#parent.level.childrenOf(this.#parent.id, this.#slice);
  }

  #cursorAt(place: number): PromiseOrValue<string | null> {
    return whenDone(this.#children(), ({ nodes }) => {
      const node = nodes.at(place);
      return node ? toCursor(this.#parent.id, node) : null;
    });
  }
}

function toSlice(parentId: string, { first, after, last, before }: ConnectionArguments): Slice {
  if (typeof first === 'number' && typeof last === 'number') {
    throw new Refusal('BAD_INPUT', 'Give `first` or `last`, not both.');
  }
  for (const [name, value] of Object.entries({ first, last })) {
    if (typeof value === 'number' && value < 0)
      throw new Refusal('BAD_INPUT', `\`${name}\` must not be negative.`);
  }
  return {
    after: typeof after === 'string' ? fromCursor(parentId, after, 'after') : undefined,
    before: typeof before === 'string' ? fromCursor(parentId, before, 'before') : undefined,
    limit: first ?? last ?? undefined,
    isFromEnd: typeof last === 'number',
  };
}
