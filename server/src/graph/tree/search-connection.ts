/** The folders that a search finds, the best first. */

import type { GraphQLResolveInfo } from 'graphql';
import { fromCursor, toCursor } from '../../folders/cursor.ts';
import type { TreeView } from '../../folders/folders.ts';
import { searchFolders, toSearchText, type SearchResult } from '../../folders/search.ts';
import type { Budget } from '../price/budget.ts';
import { pageSize, type FolderConnection, type FolderEdge } from './folder-connection.ts';
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
  readonly #view: TreeView;
  readonly #given: SearchArguments;
  readonly #text: string;
  readonly #first: number;
  #result: Promise<SearchResult> | undefined;

  constructor(view: TreeView, given: SearchArguments, budget: Budget, info: GraphQLResolveInfo) {
    this.#view = view;
    this.#given = given;
    this.#text = toSearchText(given.text);
    this.#first = pageSize(given, budget, info).limit ?? defaultPage;
  }

  get edges(): Promise<readonly FolderEdge[]> {
    return this.#read().then(({ found }) => {
      const { nodes } = new FolderLevel(
        this.#view,
        found.map(({ folder }) => folder),
      );
      return found.map(({ place }, at) => ({
        node: nodes[at]!,
        depth: null,
        cursor: toCursor(this.#list, place),
      }));
    });
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
    return typeof this.#given.after === 'string';
  }

  #read(): Promise<SearchResult> {
    return (this.#result ??= this.#search());
  }

  async #search(): Promise<SearchResult> {
    const { under, after } = this.#given;
    return searchFolders(this.#view, {
      text: this.#text,
      underId: under ?? undefined,
      first: this.#first,
      after: typeof after === 'string' ? fromCursor(this.#list, after, 'after') : undefined,
    });
  }

  get #list(): string {
    return `search ${this.#given.under ?? ''} ${this.#text}`;
  }
}
