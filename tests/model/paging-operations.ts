/** Paging at random: through whole lists, in windows, with cursors of elsewhere, and while others change the tree. */

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
  shownTrash,
  toDateTime,
  trashSelection,
  type ChildFilter,
  type ChildOrder,
} from './model-answers.ts';
import { Refused, trashOf } from './model-changes.ts';
import { operationKind, runOperation, type OperationTable } from './operation.ts';
import {
  actorOf,
  actors,
  folderIdOf,
  searchTexts,
  seenFolders,
  weighted,
  type FolderReference,
} from './references.ts';
import { disagree, type World } from './world.ts';

const sizes = fc.integer({ min: 1, max: 7 });
/** So that no list takes more pages than this, however long it is. */
const mostPages = 4;

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

type GivenFilter = Omit<ChildFilter, 'updatedSince'> & { updatedAtOf?: number };

const children = operationKind(
  8,
  fc.record({ list: childLists, size: sizes, isBackward: fc.boolean() }),
  async (world, { list: { actor, folder, order, filter }, size, isBackward }) => {
    const user = actorOf(world, actor);
    const id = folderIdOf(world, user, folder);
    const list = childList(world, user, id, { order, filter: filterOf(world, filter) });
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
    const user = actorOf(world, actor);
    const id = folderIdOf(world, user, folder);
    const whole = childList(world, user, id, { order });
    const edges = (await readPage(world, whole, {}))?.edges ?? [];
    const placeOf = (place: number | null) =>
      place === null || edges.length === 0 ? null : place % edges.length;
    const [from, to] = [placeOf(after), placeOf(before)];
    const list = childList(world, user, id, { order, filter: filterOf(world, filter) });
    const page = {
      after: from === null ? null : edges[from]!.cursor,
      before: to === null ? null : edges[to]!.cursor,
      [isBackward ? 'last' : 'first']: size,
    };
    await comparePage(world, list, page, (entries) => {
      const places = new Map(edges.map(({ node }, place) => [node.id, place]));
      const at = ({ folder: each }: Entry) => places.get(each.id)!;
      const inside = entries.filter(
        (each) => (from === null || at(each) > from) && (to === null || at(each) < to),
      );
      const isCut = size !== undefined && size < inside.length;
      const start = isCut && isBackward ? inside.length - size : 0;
      return {
        shown: inside.slice(start, isCut ? start + size : undefined),
        hasNextPage: (isCut && !isBackward) || (to !== null && entries.some((each) => at(each) >= to)),
        hasPreviousPage: (isCut && isBackward) || (from !== null && entries.some((each) => at(each) <= from)),
      };
    });
  },
);

const scrolled = operationKind(
  4,
  fc.record({
    list: childLists,
    after: fc.option(fc.nat(9_999)),
    skip: fc.nat(9),
    size: fc.nat(6),
  }),
  async (world, { list: { actor, folder, order, filter }, after, skip, size }) => {
    const user = actorOf(world, actor);
    const id = folderIdOf(world, user, folder);
    const list = childList(world, user, id, { order, filter: filterOf(world, filter) });
    const edges = (await readPage(world, list, {}))?.edges ?? [];
    const from = after === null || edges.length === 0 ? -1 : after % edges.length;
    const page = { first: size, skip, after: edges[from]?.cursor ?? null };
    await comparePage(world, list, page, (entries) => {
      const start = from + 1 + skip;
      return {
        shown: entries.slice(start, start + size),
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
    const user = actorOf(world, actor);
    await pageForward(world, descendantList(world, user, folderIdOf(world, user, folder), depth), size);
  },
);

const searching = operationKind(
  5,
  fc.record({
    actor: actors,
    text: searchTexts,
    under: fc.option(seenFolders, { nil: undefined }),
    size: sizes,
  }),
  async (world, { actor, text, under, size }) => {
    const user = actorOf(world, actor);
    const underId = under && folderIdOf(world, user, under);
    await pageForward(world, searchList(world, user, text, underId), size);
  },
);

const trash = operationKind(3, fc.record({ actor: actors, size: sizes }), async (world, { actor, size }) => {
  const user = actorOf(world, actor);
  const query = `query($first: Int, $after: String){trash(first: $first, after: $after){
      items{${trashSelection}} pageInfo{hasNextPage hasPreviousPage endCursor}}}`;
  const all = trashOf(world.model, user);
  const first = Math.max(size, Math.ceil(all.length / mostPages));
  let after: string | null = null;
  for (let start = 0; start === 0 || start < all.length; start += first) {
    const hasPreviousPage = after !== null;
    await world.compare<{ pageInfo: { endCursor: string | null } }>(
      user,
      { query, field: 'trash', variables: { first, after } },
      (answer) => {
        after = answer?.pageInfo.endCursor ?? null;
        const hasNextPage = start + first < all.length;
        return {
          items: all.slice(start, start + first).map((each) => shownTrash(world.model, user, each)),
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

/** A cursor belongs to one list: any other refuses it. */
const foreignCursor = operationKind(
  3,
  fc.record({ actor: actors, one: anyList, other: anyList }),
  async (world, { actor, one, other }) => {
    const [from, to] = [listOf(world, actor, one), listOf(world, actor, other)];
    const cursor = (await readPage(world, from, { first: 1 }))?.edges[0]?.cursor;
    const isSame = from.query === to.query && JSON.stringify(from.variables) === JSON.stringify(to.variables);
    if (!cursor || isSame) return;
    await comparePage(world, to, { first: 2, after: cursor }, () => {
      throw new Refused('BAD_INPUT');
    });
  },
);

const changes = { ...changeOperations, ...grantOperations };
const anyChange = fc.oneof(
  ...Object.entries(changes).map(([kind, { weight, given }]) => ({
    weight,
    arbitrary: fc.record({ kind: fc.constant(kind), given }),
  })),
);

/** Whatever others do between two pages: what keeps its place in the list is met, and met once. */
const amidChanges = operationKind(
  5,
  fc.record({
    actor: actors,
    list: anyList,
    size: fc.integer({ min: 1, max: 3 }),
    changes: fc.array(anyChange, { minLength: 1, maxLength: 5 }),
  }),
  async (world, { actor, list: given, size, changes: between }) => {
    const list = listOf(world, actor, given);
    const met: string[] = [];
    let steady = placesIn(list);
    let after: string | null = null;
    for (let place = 0; ; place++) {
      const page: Connection | undefined = await readPage(world, list, { first: size, after });
      if (!page !== !placesIn(list)) disagree('a page amid changes', page, placesIn(list));
      if (!page) return;
      met.push(...page.edges.map(({ node }) => node.id));
      if (!page.pageInfo.hasNextPage) break;
      after = page.pageInfo.endCursor;
      const change = between[place];
      if (!change) continue;
      await runOperation(changes, world, change);
      const now = placesIn(list);
      steady = new Map([...(steady ?? [])].filter(([id, each]) => now?.get(id) === each));
    }
    const counts = [...(steady?.keys() ?? [])].map((id) => [id, met.filter((each) => each === id).length]);
    if (counts.some(([, count]) => count !== 1)) {
      disagree(`${given.kind} paged amid changes by ${list.actor.username}`, met, counts);
    }
  },
);

export const pagingOperations: OperationTable = {
  children,
  window,
  scrolled,
  descendants,
  search: searching,
  trash,
  foreignCursor,
  amidChanges,
};

async function pageForward(world: World, list: List, size: number): Promise<void> {
  const first = Math.max(size, Math.ceil(lengthOf(list) / mostPages));
  let after: string | null = null;
  for (let start = 0; start === 0 || start < lengthOf(list); start += first) {
    const page = await comparePage(world, list, { first, after }, (entries) => ({
      shown: entries.slice(start, start + first),
      hasNextPage: start + first < entries.length,
      hasPreviousPage: start > 0,
    }));
    after = page?.pageInfo.endCursor ?? null;
  }
}

async function pageBackward(world: World, list: List, size: number): Promise<void> {
  const last = Math.max(size, Math.ceil(lengthOf(list) / mostPages));
  let before: string | null = null;
  const length = lengthOf(list);
  for (let end = length; end === length || end > 0; end -= last) {
    const page = await comparePage(world, list, { last, before }, (entries) => ({
      shown: entries.slice(Math.max(0, end - last), end),
      hasNextPage: end < length,
      hasPreviousPage: end > last,
    }));
    before = page?.edges[0]?.cursor ?? null;
  }
}

function lengthOf(list: List): number {
  return placesIn(list)?.size ?? 0;
}

/** By id; undefined if the actor does not see the list. */
function placesIn(list: List): ReadonlyMap<string, string> | undefined {
  try {
    const entries = list.entries();
    return entries
      ? new Map(entries.map(({ folder }) => [folder.id, JSON.stringify(list.placeOf(folder))]))
      : undefined;
  } catch (error) {
    if (error instanceof Refused) return undefined;
    throw error;
  }
}

function filterOf({ model }: World, given: GivenFilter | undefined): ChildFilter | undefined {
  if (!given) return undefined;
  const { updatedAtOf, ...filter } = given;
  if (updatedAtOf === undefined) return filter;
  const { updatedAt } = model.known[updatedAtOf % model.known.length]!;
  return { ...filter, updatedSince: toDateTime(updatedAt) };
}

function listOf(
  world: World,
  actor: number,
  { kind, folder, text }: { kind: string; folder: FolderReference; text: string },
): List {
  const user = actorOf(world, actor);
  const id = folderIdOf(world, user, folder);
  if (kind === 'search') return searchList(world, user, text);
  return kind === 'children' ? childList(world, user, id) : descendantList(world, user, id);
}
