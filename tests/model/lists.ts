/** The pageable lists of folders: how to query a page, and the expected content of the whole list. */

import {
  matchesFilter,
  orderedChildren,
  search,
  expectedFolder,
  type ChildFilter,
  type ChildOrder,
} from './expected-responses.ts';
import { requireSeen } from './model-changes.ts';
import type { ModelFolder, ModelUser } from './tree-model.ts';
import type { World } from './world.ts';

export interface List {
  readonly actor: ModelUser;
  readonly query: string;
  readonly variables: Readonly<Record<string, unknown>>;
  /** Null if the actor does not see the folder of the list. */
  entries(): readonly Entry[] | null;
  /**
   * The sort position of a folder. As long as it does not change, paging must return the folder exactly once.
   */
  positionOf(folder: ModelFolder): unknown;
}

export interface Entry {
  readonly folder: ModelFolder;
  readonly depth: number | null;
}

export interface Connection {
  readonly edges: readonly { cursor: string; depth: number | null; node: { id: string } }[];
  readonly pageInfo: {
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly endCursor: string | null;
  };
}

export interface PageArguments {
  readonly first?: number | undefined;
  readonly after?: string | null | undefined;
  readonly last?: number | undefined;
  readonly before?: string | null | undefined;
  readonly skip?: number | undefined;
}

const connection = `edges{cursor depth node{id}} items{id} totalCount
  pageInfo{hasNextPage hasPreviousPage startCursor endCursor}`;

export function childList(
  { model }: World,
  actor: ModelUser,
  id: string,
  {
    order = { field: 'NAME', direction: 'ASC' },
    filter = {},
  }: { order?: ChildOrder | undefined; filter?: ChildFilter | undefined } = {},
): List {
  return {
    actor,
    query: `query($id: ID!, $first: Int, $after: String, $last: Int, $before: String, $order: FolderOrder,
      $filter: FolderFilter, $skip: Int){folder(id: $id){list: folders(first: $first, after: $after, last: $last,
      before: $before, orderBy: $order, filter: $filter, skip: $skip){${connection}}}}`,
    variables: { id, order, filter },
    entries() {
      const folder = model.find(id);
      if (!folder || !model.isSeen(actor, folder)) return null;
      return orderedChildren(model, actor, folder, order)
        .filter((each) => matchesFilter(model, actor, each, filter))
        .map((each) => ({ folder: each, depth: 1 }));
    },
    positionOf: (folder) => folder.name,
  };
}

export function descendantList({ model }: World, actor: ModelUser, id: string, depth?: number): List {
  return {
    actor,
    query: `query($id: ID!, $depth: Int, $first: Int, $after: String){folder(id: $id){
      list: descendants(depth: $depth, first: $first, after: $after){${connection}}}}`,
    variables: { id, depth },
    entries() {
      const folder = model.find(id);
      const seen = model.seenBy(actor);
      return folder && seen.has(folder) ? model.descendants(folder, seen, depth) : null;
    },
    positionOf: (folder) => model.pathTo(folder)?.map((each) => [each.id, each.name]),
  };
}

export function searchList({ model }: World, actor: ModelUser, text: string, under?: string): List {
  return {
    actor,
    query: `query($text: String!, $under: ID, $first: Int, $after: String){
      list: search(text: $text, under: $under, first: $first, after: $after){${connection}}}`,
    variables: { text, under },
    entries() {
      const top = under === undefined ? undefined : requireSeen(model, actor, under);
      return search(model, actor, text, top).map((folder) => ({ folder, depth: null }));
    },
    positionOf(folder) {
      return model.pathTo(folder)?.map((each) => {
        const { name, title } = expectedFolder(model, actor, each, new Set());
        return [name, title];
      });
    },
  };
}

/** Reads one page. Returns undefined if there is none. */
export async function readPage(
  world: World,
  { actor, query, variables }: List,
  page: PageArguments,
): Promise<Connection | undefined> {
  const { data } = await world.execute(actor, query, { ...variables, ...page });
  return readConnection(data);
}

/** Reads one page and compares it with the page that the model expects. */
export async function comparePage(
  world: World,
  list: List,
  page: PageArguments,
  expected: (entries: readonly Entry[]) => ExpectedPage,
): Promise<Connection | undefined> {
  const isTop = list.query.includes('list: search');
  let read: Connection | undefined;
  await world.compare(
    list.actor,
    { query: list.query, field: isTop ? 'list' : 'folder', variables: { ...list.variables, ...page } },
    (response) => {
      read = isTop ? (response as Connection) : (response as { list: Connection } | null | undefined)?.list;
      const entries = list.entries();
      if (!entries) return null;
      const expectedPage = expectedPageOf(entries, expected(entries), read);
      return isTop ? expectedPage : { list: expectedPage };
    },
  );
  return read;
}

export interface ExpectedPage {
  readonly page: readonly Entry[];
  readonly hasNextPage: boolean;
  readonly hasPreviousPage: boolean;
}

/** The model does not predict cursors, but the start and end cursors of a page must match its edges. */
function expectedPageOf(
  entries: readonly Entry[],
  { page, ...pageInfo }: ExpectedPage,
  read: Connection | undefined,
) {
  const cursors = read?.edges.map(({ cursor }) => cursor) ?? [];
  return {
    edges: page.map(({ folder: { id }, depth }, index) => ({ cursor: cursors[index], depth, node: { id } })),
    items: page.map(({ folder: { id } }) => ({ id })),
    totalCount: entries.length,
    pageInfo: { ...pageInfo, startCursor: cursors[0] ?? null, endCursor: cursors.at(-1) ?? null },
  };
}

function readConnection(data: Readonly<Record<string, unknown>> | null | undefined): Connection | undefined {
  const top = data?.['folder'] ?? data;
  return (top as { list?: Connection } | null)?.list;
}
