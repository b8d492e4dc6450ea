/** The folders that a search finds, the best first. */

import type { GraphQLResolveInfo } from 'graphql';
import { readSearchCursor } from '../../../folders/cursor.ts';
import {
  searchFolders,
  searchList,
  toSearchText,
  type SearchResult,
  type SearchSlice,
} from '../../../folders/search.ts';
import type { GraphContext } from '../builder.ts';
import { FolderEdge, pageSize, type FolderConnection } from './folder-connection.ts';
import { FolderBatch } from './folder-batch.ts';
import type { PageInfo } from '../connections/keyset-connection.ts';
import { selectedColumns } from './selected-columns.ts';

export interface SearchArguments {
  readonly text: string;
  readonly under?: string | null | undefined;
  readonly first?: number | null | undefined;
  readonly after?: string | null | undefined;
}

const defaultPage = 50;

export class SearchConnection implements FolderConnection, PageInfo {
  readonly #context: GraphContext;
  readonly #slice: SearchSlice;
  readonly #info: GraphQLResolveInfo;
  #result: Promise<SearchResult> | undefined;
  #edges: Promise<readonly FolderEdge[]> | undefined;

  /** Refuses bad arguments before anything is read: one error, whichever fields are selected. */
  static async open(
    args: SearchArguments,
    context: GraphContext,
    info: GraphQLResolveInfo,
  ): Promise<SearchConnection> {
    const text = toSearchText(args.text);
    const underId = args.under ?? undefined;
    const first = pageSize(args, context.budget, info).limit ?? defaultPage;
    const after =
      typeof args.after === 'string'
        ? await readSearchCursor(context.view.reader, searchList(text, underId), args.after, 'after')
        : undefined;
    const columns = selectedColumns(info);
    return new SearchConnection({ text, underId, first, after, columns }, context, info);
  }

  private constructor(slice: SearchSlice, context: GraphContext, info: GraphQLResolveInfo) {
    this.#slice = slice;
    this.#context = context;
    this.#info = info;
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
    return this.#read().then(({ endCursor }) => endCursor());
  }

  get hasNextPage(): Promise<boolean> {
    return this.#read().then(({ hasNextPage }) => hasNextPage);
  }

  /** A cursor comes from a page before. */
  get hasPreviousPage(): boolean {
    return this.#slice.after !== undefined;
  }

  #read(): Promise<SearchResult> {
    return (this.#result ??= this.#search());
  }

  async #search(): Promise<SearchResult> {
    // One at a time: the sum that a refusal names must not depend on how the matches were read.
    const charge = () => this.#context.budget.scan(1, this.#info);
    return searchFolders(this.#context.view, this.#slice, charge);
  }

  async #makeEdges(): Promise<FolderEdge[]> {
    const { found } = await this.#read();
    const folders = found.map(({ folder }) => folder);
    const { nodes } = new FolderBatch(this.#context.view, folders);
    return found.map(({ cursor }, index) => new FolderEdge(nodes[index]!, null, cursor));
  }
}
