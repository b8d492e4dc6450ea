/** Reads lists page by page, on demand. */

import { failure, isClientError } from '../failures.ts';
import type { ApiConnection } from './resolve-names.ts';

export interface Page<Item> {
  readonly items: readonly Item[];
  readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
}

/** An empty page, for an object that no longer exists. */
export const noItems: Page<never> = { items: [], pageInfo: { hasNextPage: false, endCursor: null } };

export interface PageSlice {
  readonly first: number;
  readonly after: string | null;
}

/** The page fields of a query. */
export const pageInfo = 'pageInfo { hasNextPage endCursor }';

/** The server's maximum page size. */
const maxPageSize = 1_000;

export type ReadPage<Item> = (slice: PageSlice) => Promise<Page<Item>>;

interface PageOptions {
  /** The limit for all pages together. */
  readonly maxItems?: number;
  readonly pageSize?: number;
}

/** Yields at least one page, which may be empty. */
export async function* pagesOf<Item>(
  read: ReadPage<Item>,
  { maxItems = Infinity, pageSize = maxPageSize }: PageOptions = {},
): AsyncGenerator<readonly Item[], void> {
  let left = maxItems;
  let after: string | null = null;
  for (;;) {
    const page: Page<Item> = await read({ first: Math.min(left, pageSize), after });
    yield page.items;
    left -= page.items.length;
    after = page.pageInfo.endCursor;
    if (left <= 0 || !page.pageInfo.hasNextPage || after === null) return;
  }
}

export async function* itemsOf<Item>(
  read: ReadPage<Item>,
  options?: PageOptions,
): AsyncGenerator<Item, void> {
  for await (const items of pagesOf(read, options)) yield* items;
}

/** Reads the list with the alias `list` in the query, either of the query itself or of the object with the alias `of`. */
export function listReader<Item>(
  { client, signal }: ApiConnection,
  query: string,
  variables: Readonly<Record<string, unknown>> = {},
): ReadPage<Item> {
  type Result = { list?: Page<Item>; of?: { list: Page<Item> } | null };
  return async (slice) => {
    const { list, of } = await client.query<Result>(query, { ...variables, ...slice }, { signal });
    const page = list ?? of?.list;
    if (page) return page;
    throw failure('NOT_FOUND', 'The folder, user or group no longer exists.');
  };
}

/** Halves the page size after TOO_EXPENSIVE, and uses the smaller size for all later pages. */
export function withSmallerPages<Item>(read: ReadPage<Item>): ReadPage<Item> {
  let maxSize = Infinity;
  return async function readLess({ first, after }) {
    const size = Math.min(first, maxSize);
    try {
      return await read({ first: size, after });
    } catch (error) {
      const isTooMuch = isClientError(error, 'TOO_EXPENSIVE');
      if (!isTooMuch || size === 1) throw error;
      maxSize = Math.ceil(size / 2);
      return readLess({ first, after });
    }
  };
}

export async function everyItem<Item>(read: ReadPage<Item>, options?: PageOptions): Promise<readonly Item[]> {
  const all: Item[] = [];
  for await (const items of pagesOf(read, options)) all.push(...items);
  return all;
}
