/** Everything below a folder, as one flat list whose edges carry their depth. */

import type { GraphQLResolveInfo } from 'graphql';
import { fromCursor, toCursor } from '../../../folders/cursor.ts';
import { countDescendants } from '../../../folders/child-counts.ts';
import {
  positionsOfKey,
  readDescendants,
  pathKey,
  type Descendant,
  type Descendants,
  type DescendantSlice,
} from '../../../folders/descendants.ts';
import type { FolderColumns } from '../../../folders/folder-slice.ts';
import { Refusal } from '../../../refusal.ts';
import type { GraphContext } from '../builder.ts';
import { FolderEdge, pageSize, type FolderConnection } from './folder-connection.ts';
import { FolderBatch, type FolderNode } from './folder-batch.ts';
import type { PageInfo } from '../connections/keyset-connection.ts';
import { selectedColumns } from './selected-columns.ts';

export interface DescendantArguments {
  readonly depth?: number | null | undefined;
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

export class DescendantConnection implements FolderConnection, PageInfo {
  readonly #top: FolderNode;
  readonly #list: string;
  readonly #slice: DescendantSlice;
  readonly #context: GraphContext;
  readonly #info: GraphQLResolveInfo;
  #page: Promise<Descendants> | undefined;
  #edges: Promise<readonly FolderEdge[]> | undefined;
  #count: Promise<number> | undefined;

  constructor(top: FolderNode, given: DescendantArguments, context: GraphContext, info: GraphQLResolveInfo) {
    this.#top = top;
    this.#context = context;
    this.#info = info;
    const { after } = given;
    const depth = toDepth(given.depth);
    this.#list = `descendants ${top.id} ${depth ?? 'all'}`;
    this.#slice = {
      depth,
      first: pageSize(given, context.budget, info).limit,
      columns: countedColumns(selectedColumns(info)),
      after:
        typeof after === 'string'
          ? positionsOfKey(fromCursor(this.#list, after, 'after'), 'after')
          : undefined,
    };
  }

  get edges(): Promise<readonly FolderEdge[]> {
    return (this.#edges ??= this.#makeEdges());
  }

  get totalCount(): Promise<number> {
    const { depth } = this.#slice;
    const onRead = (count: number) => this.#context.budget.scan(count, this.#info);
    return (this.#count ??= countDescendants(this.#top.batch.view, this.#top.folder, { depth, onRead }));
  }

  get pageInfo(): PageInfo {
    return this;
  }

  get startCursor(): Promise<string | null> {
    return this.#cursorAt(0);
  }

  get endCursor(): Promise<string | null> {
    return this.#cursorAt(-1);
  }

  get hasNextPage(): Promise<boolean> {
    return this.#read().then(({ isCut }) => isCut);
  }

  /** A cursor comes from a page before. */
  get hasPreviousPage(): boolean {
    return this.#slice.after !== undefined;
  }

  #read(): Promise<Descendants> {
    return (this.#page ??= this.#readPage());
  }

  async #readPage(): Promise<Descendants> {
    const { budget } = this.#context;
    const { batch, folder } = this.#top;
    const page = await readDescendants(batch.view, folder, this.#slice, budget.foldersLeft);
    if (page.isTooMuch) throw budget.exceeded(this.#info);
    return page;
  }

  async #makeEdges(): Promise<FolderEdge[]> {
    const { found } = await this.#read();
    const folders = found.map(({ folder }) => folder);
    const { nodes } = new FolderBatch(this.#top.batch.view, folders);
    return found.map((each, place) => new FolderEdge(nodes[place]!, each.depth, () => this.#cursorOf(each)));
  }

  async #cursorAt(place: number): Promise<string | null> {
    const descendant = (await this.#read()).found.at(place);
    return descendant ? this.#cursorOf(descendant) : null;
  }

  #cursorOf(descendant: Descendant): string {
    return toCursor(this.#list, { id: descendant.folder.id, key: pathKey(descendant) });
  }
}

/** What is inside a folder is found by its number of children. */
function countedColumns(columns: FolderColumns): FolderColumns {
  return columns === 'texts' || columns === 'all' ? columns : 'counted';
}

export function toDepth(given: number | null | undefined): number | undefined {
  if (typeof given === 'number' && given < 1) throw new Refusal('BAD_INPUT', '`depth` must be at least 1.');
  return given ?? undefined;
}
