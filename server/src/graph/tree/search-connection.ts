/** The folders that a search finds, the best first. */

import type { GraphQLResolveInfo } from 'graphql';
import { fromCursor, toCursor } from '../../folders/cursor.ts';
import { searchFolders, toSearchText, type SearchResult, type SearchSlice } from '../../folders/search.ts';
import type { GraphContext } from '../builder.ts';
import { readLong } from '../change.ts';
import { FolderEdge, pageSize, type FolderConnection } from './folder-connection.ts';
import { FolderLevel } from './folder-level.ts';
import type { PageInfo } from '../page-info.ts';

export interface SearchArguments {
  readonly text: string;
  readonly under?: string | null | undefined;
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

const defaultPage = 50;

export class SearchConnection implements FolderConnection, PageInfo {
  readonly #context: GraphContext;
  readonly #list: string;
  readonly #slice: SearchSlice;
  readonly #info: GraphQLResolveInfo;
  #result: Promise<SearchResult> | undefined;
  #edges: Promise<readonly FolderEdge[]> | undefined;

  constructor(given: SearchArguments, context: GraphContext, info: GraphQLResolveInfo) {
    this.#context = context;
    this.#info = info;
    const { under, after } = given;
    const text = toSearchText(given.text);
    this.#list = `search ${under ?? ''} ${text}`;
    this.#slice = {
      text,
      underId: under ?? undefined,
      first: pageSize(given, context.budget, info).limit ?? defaultPage,
      after: typeof after === 'string' ? fromCursor(this.#list, after, 'after') : undefined,
    };
  }

  get edges(): Promise<readonly FolderEdge[]> {
    return (this.#edges ??= this.#makeEdges());
  }

  get totalCount(): Promise<number> {
    return this.#read().then(({ totalCount }) => totalCount);
  }

  get pageInfo(): PageInfo {
    return this;
  }

  get startCursor(): Promise<string | null> {
    return this.edges.then((edges) => edges[0]?.cursor ?? null);
  }

  get endCursor(): Promise<string | null> {
    return this.edges.then((edges) => edges.at(-1)?.cursor ?? null);
  }

  get hasNextPage(): Promise<boolean> {
    return this.#read().then(({ isCut }) => isCut);
  }

  /** A cursor comes from a page before. */
  get hasPreviousPage(): boolean {
    return this.#slice.after !== undefined;
  }

  #read(): Promise<SearchResult> {
    return (this.#result ??= this.#search());
  }

  async #search(): Promise<SearchResult> {
    const onRead = (count: number) => this.#context.budget.scan(count, this.#info);
    return readLong(this.#context, (view) => searchFolders(view, this.#slice, onRead));
  }

  async #makeEdges(): Promise<FolderEdge[]> {
    const { found } = await this.#read();
    const folders = found.map(({ folder }) => folder);
    const { nodes } = new FolderLevel(this.#context.view, folders);
    return found.map(({ place }, at) => new FolderEdge(nodes[at]!, null, () => toCursor(this.#list, place)));
  }
}
