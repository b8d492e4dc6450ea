/** The sub-folders of folders: in an order, filtered, in slices, counted. One statement serves any number of parents. */

import { whenDone, type PromiseOrValue } from '../database/database.ts';
import { chosenForEach, list, sql, type Statement } from '../database/statement.ts';
import { timeKey, timeKeyBytes, timeOfKey, type Place } from './cursor.ts';
import { foldText } from './folded-text.ts';
import { folderColumns, withLevel, type Folder, type FolderRow, type TreeView } from './folders.ts';
import { sortKey } from './sort-key.ts';

export type OrderField = 'NAME' | 'CREATED' | 'UPDATED';

export interface FolderOrder {
  readonly field: OrderField;
  readonly isDescending: boolean;
}

export interface FolderFilter {
  /** Both compared as folded texts. */
  readonly nameContains?: string | undefined;
  readonly nameStartsWith?: string | undefined;
  readonly hasChildren?: boolean | undefined;
  readonly updatedSince?: number | undefined;
}

/** What lies between two places, and no more than `limit` from one end of that. */
export interface Slice {
  readonly after?: Place | undefined;
  readonly before?: Place | undefined;
  readonly limit?: number | undefined;
  readonly isFromEnd?: boolean | undefined;
  /** The places themselves belong to it. */
  readonly isInclusive?: boolean | undefined;
  readonly order?: FolderOrder | undefined;
  readonly filter?: FolderFilter | undefined;
}

export interface Children {
  readonly folders: Folder[];
  /** The limit left some out. */
  readonly isCut: boolean;
}

export interface ReadChildren {
  /** A parent without any is not in the map. */
  readonly byParent: ReadonlyMap<string, Children>;
  /** There were more than `most` in all: what was read is not complete. */
  readonly isTooMuch: boolean;
}

const byName: FolderOrder = { field: 'NAME', isDescending: false };

/** The children of each parent, in order; stops reading soon after `most` of them. */
export function readChildren(
  view: TreeView,
  parents: readonly Folder[],
  slice: Slice,
  most: number,
): PromiseOrValue<ReadChildren> {
  const { open, closed } = byRule(view, parents);
  return whenDone(readOpen(view, open, slice, most), (rows) =>
    whenDone(readClosed(view, closed, slice), (more) =>
      group(view, parents, [...rows, ...more], slice, most),
    ),
  );
}

/** How many children each parent has for the viewer, filtered or not. */
export function countChildren(
  view: TreeView,
  parents: readonly Folder[],
  filter?: FolderFilter,
): PromiseOrValue<ReadonlyMap<string, number>> {
  if (!filter) return new Map(parents.map((parent) => [parent.id, visibleChildCount(view, parent)]));
  const { open, closed } = byRule(view, parents);
  const parentIds = open.map(({ id }) => id);
  const counted =
    open.length === 0
      ? []
      : view.reader.all(countStatement(isRestricted(view)), { parentIds, ...parametersOf(view, { filter }) });
  return whenDone(counted, (rows) =>
    whenDone(readClosed(view, closed, { filter }), (shown) => {
      const counts = new Map(rows.map(({ parentId, count }) => [parentId, count]));
      for (const { parentId } of shown) counts.set(parentId!, (counts.get(parentId!) ?? 0) + 1);
      return counts;
    }),
  );
}

export function visibleChildCount({ access }: TreeView, { id, accessLevel, childCount }: Folder): number {
  const { only, except } = access.childRule(id, accessLevel);
  return only ? only.length : childCount - (except?.length ?? 0);
}

export function placeOf(folder: Pick<Folder, 'id' | 'name' | 'updatedAt'>, field: OrderField): Place {
  return { id: folder.id, key: keyOf(folder, field) };
}

/** How long the keys of an order are, where they all are as long. */
export function keyBytesOf(field: OrderField): number | undefined {
  return { NAME: undefined, CREATED: 0, UPDATED: timeKeyBytes }[field];
}

function keyOf({ name, updatedAt }: Pick<Folder, 'name' | 'updatedAt'>, field: OrderField): Uint8Array {
  if (field === 'NAME') return sortKey(name);
  // Ids grow with time: they are the order of creation.
  if (field === 'CREATED') return new Uint8Array();
  return timeKey(updatedAt);
}

/** Parents that show their children by themselves, and passages, which show only what leads on. */
function byRule({ access }: TreeView, parents: readonly Folder[]) {
  const open: Folder[] = [];
  const closed: { parent: Folder; shown: readonly string[] }[] = [];
  for (const parent of parents) {
    const { only } = access.childRule(parent.id, parent.accessLevel);
    if (only) closed.push({ parent, shown: only });
    else open.push(parent);
  }
  return { open, closed };
}

function isRestricted({ access }: TreeView): boolean {
  return access.hiddenIds.length > 0 || access.bareIds.length > 0;
}

function readOpen(
  view: TreeView,
  open: readonly Folder[],
  slice: Slice,
  most: number,
): PromiseOrValue<FolderRow[]> {
  if (open.length === 0) return [];
  const parameters = {
    ...parametersOf(view, slice),
    parentIds: open.map(({ id }) => id),
    most: most + 1 + (slice.limit === undefined ? 0 : open.length),
  };
  return view.reader.all(statementFor(slice, isRestricted(view)), parameters);
}

/** Few by nature: read by their ids, then chosen here by the very rules of the statements. */
function readClosed(
  view: TreeView,
  closed: readonly { parent: Folder; shown: readonly string[] }[],
  slice: Slice,
): PromiseOrValue<FolderRow[]> {
  const ids = closed.flatMap(({ shown }) => shown);
  if (ids.length === 0) return [];
  return whenDone(view.reader.all(findByIds, { ids }), (rows) =>
    closed.flatMap(({ parent }) =>
      sliceOf(
        rows
          .filter(({ parentId }) => parentId === parent.id)
          .map((row) => withLevel(row, view.access.levelOf(row.id, parent.accessLevel))),
        view,
        slice,
      ),
    ),
  );
}

const findByIds = sql<{ ids: readonly string[] }, FolderRow>`
  select ${folderColumns} from folders where id in (select value from ${list('ids')})`;

function sliceOf(folders: readonly Folder[], view: TreeView, slice: Slice): Folder[] {
  const { after, before, limit = Infinity, isFromEnd, isInclusive, order = byName, filter = {} } = slice;
  const { field, isDescending } = order;
  const compare = (one: Place, other: Place) => {
    const difference =
      Buffer.compare(one.key, other.key) || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
    return isDescending ? -difference : difference;
  };
  const edge = isInclusive ? -1 : 0;
  const placed = folders
    .filter((folder) => isChosen(folder, view, filter))
    .map((folder) => ({ folder, place: placeOf(folder, field) }))
    .filter(({ place }) => !after || compare(place, after) > edge)
    .filter(({ place }) => !before || compare(place, before) < -edge)
    .toSorted((one, other) => compare(one.place, other.place))
    .map(({ folder }) => folder);
  return isFromEnd ? placed.slice(-Math.min(limit + 1, placed.length)) : placed.slice(0, limit + 1);
}

function isChosen(folder: Folder, view: TreeView, filter: FolderFilter): boolean {
  const { nameContains, nameStartsWith, hasChildren, updatedSince } = filter;
  const name = foldText(folder.name);
  return (
    (nameContains === undefined || name.includes(foldText(nameContains))) &&
    (nameStartsWith === undefined || name.startsWith(foldText(nameStartsWith))) &&
    (hasChildren === undefined || visibleChildCount(view, folder) > 0 === hasChildren) &&
    (updatedSince === undefined || folder.updatedAt >= updatedSince)
  );
}

function group(
  { access }: TreeView,
  parents: readonly Folder[],
  rows: readonly FolderRow[],
  { limit = Infinity, isFromEnd }: Slice,
  most: number,
): ReadChildren {
  const levels = new Map(parents.map(({ id, accessLevel }) => [id, accessLevel]));
  const byParent = new Map<string, Children>();
  let total = 0;
  let start = 0;
  for (let end = 1; end <= rows.length; end++) {
    const parentId = rows[start]!.parentId!;
    if (rows[end]?.parentId === parentId) continue;
    const inherited = levels.get(parentId)!;
    const folders = rows.slice(start, end).map((row) => withLevel(row, access.levelOf(row.id, inherited)));
    const isCut = folders.length > limit;
    if (isCut) isFromEnd ? folders.shift() : folders.pop();
    byParent.set(parentId, { folders, isCut });
    total += folders.length;
    start = end;
  }
  return { byParent, isTooMuch: total > most };
}

type Parameters = Record<string, unknown>;

function parametersOf(
  { access }: TreeView,
  { after, before, limit, order = byName, filter }: Slice,
): Parameters {
  return {
    afterKey: after && keyParameter(after, order.field),
    afterId: after?.id,
    beforeKey: before && keyParameter(before, order.field),
    beforeId: before?.id,
    // One more than asked for tells whether there is more.
    limit: limit === undefined ? undefined : limit + 1,
    hiddenIds: access.hiddenIds,
    bareIds: access.bareIds,
    contains: filter?.nameContains === undefined ? null : `%${pattern(filter.nameContains)}%`,
    startsWith: filter?.nameStartsWith === undefined ? null : `${pattern(filter.nameStartsWith)}%`,
    hasChildren: filter?.hasChildren === undefined ? null : Number(filter.hasChildren),
    updatedSince: filter?.updatedSince ?? null,
  };
}

function keyParameter({ key }: Place, field: OrderField): unknown {
  return field === 'UPDATED' ? timeOfKey(key) : key;
}

/** A folded text as a pattern that matches just itself. */
function pattern(text: string): string {
  return foldText(text).replace(/[\\%_]/g, '\\$&');
}

const statements = new Map<string, Statement<Parameters, FolderRow>>();

/** There are few kinds of slices; each has its statement, made when it is first asked for. */
function statementFor(slice: Slice, restricted: boolean): Statement<Parameters, FolderRow> {
  const { after, before, limit, isFromEnd = false, isInclusive = false, order = byName, filter } = slice;
  const edges = [!!after, !!before, isInclusive];
  const kind = [...edges, limit !== undefined, isFromEnd, order.field, order.isDescending, !!filter];
  const name = [...kind, restricted].join();
  let statement = statements.get(name);
  if (!statement) statements.set(name, (statement = write()));
  return statement;

  function write(): Statement<Parameters, FolderRow> {
    const conditions = sql`
      ${restricted ? notHidden : nothing} ${filter ? matches(restricted) : nothing}
      ${after ? beyond(order, 'after', isInclusive, restricted) : nothing}
      ${before ? beyond(reverse(order), 'before', isInclusive, restricted) : nothing}`;
    const inOrder = orderBy(order, restricted);
    if (limit === undefined) {
      return sql<Parameters, FolderRow>`
        select ${folderColumns} from folders where parent_id in (select value from ${list('parentIds')}) ${conditions}
        order by folders.parent_id, ${inOrder} limit ${'most'}`;
    }
    const choice = sql`
      select folders.id from folders where parent_id = each.value ${conditions}
      order by ${isFromEnd ? orderBy(reverse(order), restricted) : inOrder}
      limit ${'limit'}`;
    return sql<Parameters, FolderRow>`
      select ${folderColumns} from (select chosen.* from ${chosenForEach('parentIds', 'folders', choice)}) as folders
      order by folders.parent_id, ${inOrder} limit ${'most'}`;
  }
}

const countStatements = new Map<boolean, Statement<Parameters, { parentId: string; count: number }>>();

function countStatement(restricted: boolean): Statement<Parameters, { parentId: string; count: number }> {
  let statement = countStatements.get(restricted);
  if (!statement) {
    statement = sql<Parameters, { parentId: string; count: number }>`
      select parent_id as "parentId", count(*) as count from folders
      where parent_id in (select value from ${list('parentIds')})
      ${restricted ? notHidden : nothing} ${matches(restricted)}
      group by parent_id`;
    countStatements.set(restricted, statement);
  }
  return statement;
}

const nothing = sql``;
const notHidden = sql`and folders.id not in (select value from ${list('hiddenIds')})`;

/** Passages amid what can be read count as never updated: nobody may learn of it from an order or a filter. */
const updatedAt = (restricted: boolean) =>
  restricted
    ? sql`case when folders.id in (select value from ${list('bareIds')}) then folders.created_at else folders.updated_at end`
    : sql`folders.updated_at`;

const hasVisibleChildren = (restricted: boolean) =>
  restricted
    ? sql`exists (select 1 from folders as child where child.parent_id = folders.id
        and child.id not in (select value from ${list('hiddenIds')}))`
    : sql`folders.child_count > 0`;

const matches = (restricted: boolean) => sql`
  and (${'contains'} is null or folders.folded_name like ${'contains'} escape '\\')
  and (${'startsWith'} is null or folders.folded_name like ${'startsWith'} escape '\\')
  and (${'hasChildren'} is null or (${hasVisibleChildren(restricted)}) = (${'hasChildren'} = 1))
  and (${'updatedSince'} is null or ${updatedAt(restricted)} >= ${'updatedSince'})`;

function reverse({ field, isDescending }: FolderOrder): FolderOrder {
  return { field, isDescending: !isDescending };
}

function beyond(
  { field, isDescending }: FolderOrder,
  edge: 'after' | 'before',
  isInclusive: boolean,
  restricted: boolean,
): Statement {
  const sign: Statement = { parts: [(isDescending ? '<' : '>') + (isInclusive ? '=' : '')] };
  if (field === 'CREATED') return sql`and folders.id ${sign} ${`${edge}Id`}`;
  const key = field === 'NAME' ? sql`folders.sort_key` : updatedAt(restricted);
  return sql`and (${key}, folders.id) ${sign} (${`${edge}Key`}, ${`${edge}Id`})`;
}

function orderBy({ field, isDescending }: FolderOrder, restricted: boolean): Statement {
  const way = isDescending ? sql`desc` : sql``;
  if (field === 'CREATED') return sql`folders.id ${way}`;
  return field === 'NAME'
    ? sql`folders.sort_key ${way}, folders.id ${way}`
    : sql`${updatedAt(restricted)} ${way}, folders.id ${way}`;
}
