/**
 * Random paging: through whole lists, in windows, with cursors of other lists, and during changes of the
 * tree.
 */

import fc from 'fast-check';
import { changeOperations } from './change-operations.ts';
import { grantOperations } from './grant-operations.ts';
import {
  childList,
  comparePage,
  descendantList,
  readPage,
  searchList,
  type Connection,
  type Entry,
  type List,
} from './lists.ts';
import {
  expectedTrash,
  toDateTime,
  trashSelection,
  type ChildFilter,
  type ChildOrder,
} from './expected-responses.ts';
import { listTrash } from './model-changes.ts';
import { ModelRefusalError } from './model-input.ts';
import { operationKind, runOperation, type OperationTable } from './operation.ts';
import {
  findActor,
  actors,
  resolveFolderId,
  searchTexts,
  seenFolders,
  weighted,
  type FolderReference,
} from './references.ts';
import { disagree, type World } from './world.ts';

const sizes = fc.integer({ min: 1, max: 7 });
/** The page size grows so that no list takes more pages than this. */
const maxPages = 4;

const orders = fc.record<ChildOrder>({
  field: fc.constantFrom('NAME', 'CREATED', 'UPDATED'),
  direction: fc.constantFrom('ASC', 'DESC'),
});

const filters = fc.record(
  {
    nameContains: fc.constantFrom('a', 'É', 'oo', '_', '%', '\\', '', '日'),
    nameStartsWith: fc.constantFrom('a', 'E', 'floor', '1', ''),
    hasChildren: fc.boolean(),
    updatedAtOf: fc.nat(9_999),
  },
  { requiredKeys: [] },
);

const childLists = fc.record({
  actor: actors,
  folder: seenFolders,
  order: fc.option(orders, { nil: undefined }),
  filter: weighted([2, fc.constant(undefined)], [1, filters]),
});

type FilterChoice = Omit<ChildFilter, 'updatedSince'> & { updatedAtOf?: number };

const children = operationKind(
  8,
  fc.record({ list: childLists, size: sizes, isBackward: fc.boolean() }),
  async (world, { list: { actor, folder, order, filter }, size, isBackward }) => {
    const user = findActor(world, actor);
    const id = resolveFolderId(world, user, folder);
    const list = childList(world, user, id, { order, filter: toFilter(world, filter) });
    await (isBackward ? pageBackward(world, list, size) : pageForward(world, list, size));
  },
);

const window = operationKind(
  6,
  fc.record({
    list: childLists,
    after: fc.option(fc.nat(9_999)),
    before: fc.option(fc.nat(9_999)),
    size: fc.option(fc.nat(6), { nil: undefined }),
    isBackward: fc.boolean(),
  }),
  async (world, { list: { actor, folder, order, filter }, after, before, size, isBackward }) => {
    const user = findActor(world, actor);
    const id = resolveFolderId(world, user, folder);
    const whole = childList(world, user, id, { order });
    const edges = (await readPage(world, whole, {}))?.edges ?? [];
    const toIndex = (index: number | null) =>
      index === null || edges.length === 0 ? null : index % edges.length;
    const [from, to] = [toIndex(after), toIndex(before)];
    const list = childList(world, user, id, { order, filter: toFilter(world, filter) });
    const page = {
      after: from === null ? null : edges[from]!.cursor,
      before: to === null ? null : edges[to]!.cursor,
      [isBackward ? 'last' : 'first']: size,
    };
    await comparePage(world, list, page, (entries) => {
      const indexes = new Map(edges.map(({ node }, index) => [node.id, index]));
      const at = ({ folder: each }: Entry) => indexes.get(each.id)!;
      const inside = entries.filter(
        (each) => (from === null || at(each) > from) && (to === null || at(each) < to),
      );
      const isCut = size !== undefined && size < inside.length;
      const start = isCut && isBackward ? inside.length - size : 0;
      return {
        page: inside.slice(start, isCut ? start + size : undefined),
        hasNextPage: (isCut && !isBackward) || (to !== null && entries.some((each) => at(each) >= to)),
        hasPreviousPage: (isCut && isBackward) || (from !== null && entries.some((each) => at(each) <= from)),
      };
    });
  },
);

const skipOperation = operationKind(
  4,
  fc.record({
    list: childLists,
    after: fc.option(fc.nat(9_999)),
    skip: fc.nat(9),
    size: fc.nat(6),
  }),
  async (world, { list: { actor, folder, order, filter }, after, skip, size }) => {
    const user = findActor(world, actor);
    const id = resolveFolderId(world, user, folder);
    const list = childList(world, user, id, { order, filter: toFilter(world, filter) });
    const edges = (await readPage(world, list, {}))?.edges ?? [];
    const from = after === null || edges.length === 0 ? -1 : after % edges.length;
    const page = { first: size, skip, after: edges[from]?.cursor ?? null };
    await comparePage(world, list, page, (entries) => {
      const start = from + 1 + skip;
      return {
        page: entries.slice(start, start + size),
        hasNextPage: start + size < entries.length,
        hasPreviousPage: Math.min(start, entries.length) > 0,
      };
    });
  },
);

const depths = fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined });

const descendants = operationKind(
  5,
  fc.record({ actor: actors, folder: seenFolders, depth: depths, size: sizes }),
  async (world, { actor, folder, depth, size }) => {
    const user = findActor(world, actor);
    await pageForward(world, descendantList(world, user, resolveFolderId(world, user, folder), depth), size);
  },
);

const searchOperation = operationKind(
  5,
  fc.record({
    actor: actors,
    text: searchTexts,
    under: fc.option(seenFolders, { nil: undefined }),
    size: sizes,
  }),
  async (world, { actor, text, under, size }) => {
    const user = findActor(world, actor);
    const underId = under && resolveFolderId(world, user, under);
    await pageForward(world, searchList(world, user, text, underId), size);
  },
);

const trash = operationKind(3, fc.record({ actor: actors, size: sizes }), async (world, { actor, size }) => {
  const user = findActor(world, actor);
  const query = `query($first: Int, $after: String){trash(first: $first, after: $after){
      items{${trashSelection}} pageInfo{hasNextPage hasPreviousPage endCursor}}}`;
  const all = listTrash(world.model, user);
  const first = Math.max(size, Math.ceil(all.length / maxPages));
  let after: string | null = null;
  for (let start = 0; start === 0 || start < all.length; start += first) {
    const hasPreviousPage = after !== null;
    await world.compare<{ pageInfo: { endCursor: string | null } }>(
      user,
      { query, field: 'trash', variables: { first, after } },
      (response) => {
        after = response?.pageInfo.endCursor ?? null;
        const hasNextPage = start + first < all.length;
        return {
          items: all.slice(start, start + first).map((each) => expectedTrash(world.model, user, each)),
          pageInfo: { hasNextPage, hasPreviousPage, endCursor: after },
        };
      },
    );
  }
});

const anyList = fc.record({
  kind: fc.constantFrom('children', 'descendants', 'search'),
  folder: seenFolders,
  text: fc.constantFrom('a', 'e', 'floor', 'zebra'),
});

/** A cursor belongs to one list. Any other list refuses it. */
const foreignCursor = operationKind(
  3,
  fc.record({ actor: actors, one: anyList, other: anyList }),
  async (world, { actor, one, other }) => {
    const [from, to] = [createList(world, actor, one), createList(world, actor, other)];
    const cursor = (await readPage(world, from, { first: 1 }))?.edges[0]?.cursor;
    const isSame = from.query === to.query && JSON.stringify(from.variables) === JSON.stringify(to.variables);
    if (!cursor || isSame) return;
    await comparePage(world, to, { first: 2, after: cursor }, () => {
      throw new ModelRefusalError('BAD_INPUT');
    });
  },
);

const changes = { ...changeOperations, ...grantOperations };
const anyChange = fc.oneof(
  ...Object.entries(changes).map(([kind, { weight, input }]) => ({
    weight,
    arbitrary: fc.record({ kind: fc.constant(kind), input }),
  })),
);

/** Changes the tree between pages. A folder that keeps its position must appear exactly once. */
const pageDuringChanges = operationKind(
  5,
  fc.record({
    actor: actors,
    list: anyList,
    size: fc.integer({ min: 1, max: 3 }),
    changes: fc.array(anyChange, { minLength: 1, maxLength: 5 }),
  }),
  async (world, { actor, list: choice, size, changes: between }) => {
    const list = createList(world, actor, choice);
    const returned: string[] = [];
    let steadyPositions = readPositions(list);
    let after: string | null = null;
    for (let index = 0; ; index++) {
      const page: Connection | undefined = await readPage(world, list, { first: size, after });
      if (!page !== !readPositions(list)) disagree('a page during changes', page, readPositions(list));
      if (!page) return;
      returned.push(...page.edges.map(({ node }) => node.id));
      if (!page.pageInfo.hasNextPage) break;
      after = page.pageInfo.endCursor;
      const change = between[index];
      if (!change) continue;
      await runOperation(changes, world, change);
      const now = readPositions(list);
      steadyPositions = new Map([...(steadyPositions ?? [])].filter(([id, each]) => now?.get(id) === each));
    }
    const counts = [...(steadyPositions?.keys() ?? [])].map((id) => [
      id,
      returned.filter((each) => each === id).length,
    ]);
    if (counts.some(([, count]) => count !== 1)) {
      disagree(`${choice.kind} paged during changes by ${list.actor.username}`, returned, counts);
    }
  },
);

export const pagingOperations: OperationTable = {
  children,
  window,
  skipping: skipOperation,
  descendants,
  search: searchOperation,
  trash,
  foreignCursor,
  duringChanges: pageDuringChanges,
};

async function pageForward(world: World, list: List, size: number): Promise<void> {
  const first = Math.max(size, Math.ceil(countEntries(list) / maxPages));
  let after: string | null = null;
  for (let start = 0; start === 0 || start < countEntries(list); start += first) {
    const page = await comparePage(world, list, { first, after }, (entries) => ({
      page: entries.slice(start, start + first),
      hasNextPage: start + first < entries.length,
      hasPreviousPage: start > 0,
    }));
    after = page?.pageInfo.endCursor ?? null;
  }
}

async function pageBackward(world: World, list: List, size: number): Promise<void> {
  const last = Math.max(size, Math.ceil(countEntries(list) / maxPages));
  let before: string | null = null;
  const length = countEntries(list);
  for (let end = length; end === length || end > 0; end -= last) {
    const page = await comparePage(world, list, { last, before }, (entries) => ({
      page: entries.slice(Math.max(0, end - last), end),
      hasNextPage: end < length,
      hasPreviousPage: end > last,
    }));
    before = page?.edges[0]?.cursor ?? null;
  }
}

function countEntries(list: List): number {
  return readPositions(list)?.size ?? 0;
}

/** Returns the positions by folder id, or undefined if the actor does not see the list. */
function readPositions(list: List): ReadonlyMap<string, string> | undefined {
  try {
    const entries = list.entries();
    return entries
      ? new Map(entries.map(({ folder }) => [folder.id, JSON.stringify(list.positionOf(folder))]))
      : undefined;
  } catch (error) {
    if (error instanceof ModelRefusalError) return undefined;
    throw error;
  }
}

function toFilter({ model }: World, choice: FilterChoice | undefined): ChildFilter | undefined {
  if (!choice) return undefined;
  const { updatedAtOf, ...filter } = choice;
  if (updatedAtOf === undefined) return filter;
  const { updatedAt } = model.allFolders[updatedAtOf % model.allFolders.length]!;
  return { ...filter, updatedSince: toDateTime(updatedAt) };
}

function createList(
  world: World,
  actor: number,
  { kind, folder, text }: { kind: string; folder: FolderReference; text: string },
): List {
  const user = findActor(world, actor);
  const id = resolveFolderId(world, user, folder);
  if (kind === 'search') return searchList(world, user, text);
  return kind === 'children' ? childList(world, user, id) : descendantList(world, user, id);
}
