/**
 * Reads lists of subfolders, with one statement for all parents. There is one statement for each kind of slice. The statement
 * excludes hidden folders before it counts, orders or limits rows.
 */

import { accessLevels, type Access } from '../../access/access.ts';
import { whenDone, type PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import { maxRowsPerStatement } from '../../database/database.ts';
import {
  list,
  listForEach,
  sql,
  type CountOfEach,
  type ListOfEach,
  type Statement,
} from '../../database/statement.ts';
import {
  byName,
  timeOfKey,
  type FolderOrder,
  type ListPosition,
  type OrderField,
  type Slice,
} from '../folder-slice.ts';
import { foldText, withoutNul } from '../folder-texts.ts';
import { withLevel, type Folder, type FolderColumns, type PageRead, type TreeView } from '../tree-view.ts';

const { READ } = accessLevels;

/** The subfolders of one parent that belong to a slice, and possibly one more. */
export interface ChildList {
  readonly parentId: string;
  readonly folders: Folder[];
}

/** More rows than any table has. */
export const maxRows = 1_000_000_000;

export function restrictionOf({ access }: Pick<TreeView, 'access'>): Restriction {
  if (access.nameOnlyIds.length > 0) return 'nameOnly';
  return access.hiddenIds.length > 0 ? 'hidden' : 'none';
}

/** The statement and parameters with which `readTogether` reads a page of one folder's children. */
export function pageRead(view: Pick<TreeView, 'access'>, parentId: string, slice: Slice): PageRead {
  return listRead(view, [parentId], slice, maxRows);
}

function listRead(view: Pick<TreeView, 'access'>, parentIds: readonly string[], slice: Slice, max: number) {
  return {
    statement: statementFor(slice, restrictionOf(view)),
    parameters: {
      ...parametersOf(view.access, slice),
      parentIds,
      // Reads one folder more than the page holds, to find out whether there is a next page.
      limit: Math.min(slice.limit ?? Infinity, max, maxRows) + 1,
    },
  };
}

/** Reads the lists of all parents with one statement. If the page was already read with its folder, no statement is needed. */
export function readTogether(
  view: TreeView,
  parents: readonly Folder[],
  slice: Slice,
  max: number,
  examined = rowsOf(parents, slice),
): PromiseOrValue<ChildList[]> {
  const read = listRead(
    view,
    parents.map(({ id }) => id),
    slice,
    max,
  );
  const lists =
    view.firstPage && isSameRead(view.firstPage, read)
      ? (view.firstPage.rows as readonly ListRow[])
      : view.reader.all(read.statement, read.parameters, examined);
  return whenDone(lists, (rows) => {
    const found: ChildList[] = [];
    for (const { position, list: listed } of rows) {
      if (listed.length === 0) continue;
      const parent = parents[position]!;
      const folders = listed.map((each) => toFolder(view, parent, each));
      found.push({ parentId: parent.id, folders: slice.isFromEnd ? folders.reverse() : folders });
    }
    return found;
  });
}

function isSameRead(one: PageRead, other: PageRead): boolean {
  return (
    one.statement === other.statement &&
    Object.entries(one.parameters).every(([name, value]) => isSameValue(value, other.parameters[name]))
  );
}

/** Parameters are arrays of one id, keys as bytes, or simple values. */
function isSameValue(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (one instanceof Uint8Array) return other instanceof Uint8Array && Buffer.compare(one, other) === 0;
  return Array.isArray(one) && Array.isArray(other) && one.length + other.length === 2 && one[0] === other[0];
}

/** A row with long texts counts as this many rows. */
export const rowsWithTexts = 2;

/** The maximum number of rows that a statement for these parents examines. Each parent adds one row for its lookup. */
export function rowsOf(parents: readonly Folder[], slice: Slice): number {
  const { filter, limit = Infinity, skip = 0, upTo, columns } = slice;
  if (upTo) return maxRowsPerStatement;
  const weight = columns === 'all' ? rowsWithTexts : 1;
  const rowsIn = (childCount: number) => (filter ? childCount : Math.min(childCount, limit + 1 + skip));
  return parents.reduce((sum, { childCount }) => sum + 1 + weight * rowsIn(childCount), 0);
}

/** A column that was not read is undefined. */
function toFolder({ access }: TreeView, parent: Folder, values: ListedFolder): Folder {
  const id = values[1];
  const folder = {
    id,
    parentId: parent.id,
    name: values[0],
    title: values[2],
    childCount: values[3],
    version: values[4],
    createdAt: values[5],
    updatedAt: values[6],
    accessLevel: access.levelOf(id, parent.accessLevel),
    texts: values.length > 7 ? { icon: values[7], description: values[8], properties: values[9] } : undefined,
  };
  return folder.accessLevel >= READ ? folder : withLevel(folder, folder.accessLevel);
}

export type Parameters = Record<string, unknown>;
/** All parameters except `parentIds` and `limit`. */
export function parametersOf(
  access: Access,
  { after, before, from, upTo, skip, order = byName, filter }: Slice,
): Parameters {
  return {
    afterKey: after && keyParameter(after, order.field),
    afterId: after?.id,
    beforeKey: before && keyParameter(before, order.field),
    beforeId: before?.id,
    fromKey: from && keyParameter(from, order.field),
    fromId: from?.id,
    upToKey: upTo && keyParameter(upTo, order.field),
    upToId: upTo?.id,
    skip,
    hiddenIds: access.hiddenIds,
    nameOnlyIds: access.nameOnlyIds,
    contains: filter?.nameContains === undefined ? null : `%${toPattern(filter.nameContains)}%`,
    startsWith: filter?.nameStartsWith === undefined ? null : `${toPattern(filter.nameStartsWith)}%`,
    hasChildren: filter?.hasChildren === undefined ? null : Number(filter.hasChildren),
    updatedSince: filter?.updatedSince ?? null,
  };
}

function keyParameter({ key }: ListPosition, field: OrderField): unknown {
  return field === 'UPDATED' ? timeOfKey(key) : key;
}

/** Escapes a folded text for `like`. */
function toPattern(text: string): string {
  return foldText(withoutNul(text)).replace(/[\\%_]/g, '\\$&');
}

/** One row for each parent. */
export type ListRow = ListOfEach<ListedFolder>;
const mainColumns = ['folders.name', 'folders.id', 'folders.title'];
const countedColumns = [...mainColumns, 'folders.child_count'];
const columnsWithoutTexts = [
  ...countedColumns,
  'folders.version',
  'folders.created_at',
  'folders.updated_at',
];
const columnsFor: Readonly<Record<FolderColumns, readonly string[]>> = {
  name: ['folders.name'],
  main: mainColumns,
  counted: countedColumns,
  withoutTexts: columnsWithoutTexts,
  all: [...columnsWithoutTexts, 'folders.icon', 'folders.description', 'folders.properties'],
};

/** The columns of `columnsFor`. Columns at the end can be missing. */
export type ListedFolder = readonly [
  name: string,
  id: string,
  title: string | null,
  childCount: number,
  version: number,
  createdAt: number,
  updatedAt: number,
  icon: string | null,
  description: string | null,
  properties: string | null,
];

const statements = new Map<string, Statement<Parameters, ListRow>>();
/**
 * The viewer's restrictions inside readable folders: none, hidden folders, or folders that show only their name (and possibly hidden
 * folders).
 */
type Restriction = 'none' | 'hidden' | 'nameOnly';
/** Statements are created on first use and cached by the kind of slice. */
function statementFor(slice: Slice, restriction: Restriction): Statement<Parameters, ListRow> {
  const { after, before, isFromEnd = false, isInclusive = false, order = byName, filter } = slice;
  const { columns = 'withoutTexts', from, upTo } = slice;
  const direction = isFromEnd ? reverse(order) : order;
  const skips = !!slice.skip;
  const edges = [!!after, !!before, !!from, !!upTo, isInclusive, skips];
  const kind = [...edges, isFromEnd, order.field, order.isDescending, !!filter];
  const name = [...kind, columns, restriction].join();
  let statement = statements.get(name);
  if (!statement) statements.set(name, (statement = createStatement()));
  return statement;

  function createStatement(): Statement<Parameters, ListRow> {
    return sql<Parameters, ListRow>`${listForEach('parentIds', {
      table: 'folders',
      columns: columnsFor[columns],
      where: sql`parent_id = each.value ${isNotHidden(restriction)} ${filter ? matches(restriction) : noCondition}
        ${after ? isBeyond(order, 'after', isInclusive, restriction) : noCondition}
        ${before ? isBeyond(reverse(order), 'before', isInclusive, restriction) : noCondition}
        ${from ? isBeyond(direction, 'from', false, restriction) : noCondition}
        ${upTo ? isBeyond(reverse(direction), 'upTo', true, restriction) : noCondition}`,
      orderBy: orderBy(direction, restriction),
      limit: sql`${'limit'} ${skips ? sql`offset ${'skip'}` : noCondition}`,
      skipsMany: skips,
    })}`;
  }
}

const countStatements = new Map<string, Statement<Parameters, CountOfEach>>();
/** Counts a segment in natural order, or the whole list. */
export function countStatement(
  restriction: Restriction,
  { from, upTo }: Pick<Slice, 'from' | 'upTo'>,
): Statement<Parameters, CountOfEach> {
  const name = [restriction, !!from, !!upTo].join();
  let statement = countStatements.get(name);
  if (!statement) {
    statement = sql<Parameters, CountOfEach>`
      select parent_id as id, count(*) as count from folders
      where parent_id in (select value from ${list('parentIds')})
      ${isNotHidden(restriction)} ${matches(restriction)}
      ${from ? isBeyond(byName, 'from', false, restriction) : noCondition}
      ${upTo ? isBeyond(reverse(byName), 'upTo', true, restriction) : noCondition}
      group by parent_id`;
    countStatements.set(name, statement);
  }
  return statement;
}

const noCondition = sql``;
const isNotHidden = (restriction: Restriction) =>
  restriction === 'none' ? noCondition : sql`and folders.id not in (select value from ${list('hiddenIds')})`;
/** A passage counts as never updated, so that orders and filters do not reveal an update. */
const updatedAt = (restriction: Restriction) =>
  restriction === 'nameOnly'
    ? sql`case when folders.id in (select value from ${list('nameOnlyIds')}) then folders.created_at else folders.updated_at end`
    : sql`folders.updated_at`;
const hasVisibleChildren = (restriction: Restriction) =>
  restriction !== 'none'
    ? sql`exists (select 1 from folders as child where child.parent_id = folders.id
        and child.id not in (select value from ${list('hiddenIds')}))`
    : sql`folders.child_count > 0`;
/** PostgreSQL takes the type of a parameter from its first use, so `is null` comes second. */
const matches = (restriction: Restriction) => sql`
  and (folders.folded_name like ${'contains'} escape '\\' or ${'contains'} is null)
  and (folders.folded_name like ${'startsWith'} escape '\\' or ${'startsWith'} is null)
  and ((${hasVisibleChildren(restriction)}) = (${'hasChildren'} = 1) or ${'hasChildren'} is null)
  and (${updatedAt(restriction)} >= ${'updatedSince'} or ${'updatedSince'} is null)`;
function reverse({ field, isDescending }: FolderOrder): FolderOrder {
  return { field, isDescending: !isDescending };
}

function isBeyond(
  { field, isDescending }: FolderOrder,
  edge: 'after' | 'before' | 'from' | 'upTo',
  isInclusive: boolean,
  restriction: Restriction,
): Statement {
  const sign: Statement = { parts: [(isDescending ? '<' : '>') + (isInclusive ? '=' : '')] };
  if (field === 'CREATED') return sql`and folders.id ${sign} ${`${edge}Id`}`;
  const key = field === 'NAME' ? sql`folders.sort_key` : updatedAt(restriction);
  return sql`and (${key}, folders.id) ${sign} (${`${edge}Key`}, ${`${edge}Id`})`;
}

function orderBy({ field, isDescending }: FolderOrder, restriction: Restriction): Statement {
  const direction = isDescending ? sql`desc` : sql``;
  if (field === 'CREATED') return sql`folders.id ${direction}`;
  return field === 'NAME'
    ? sql`folders.sort_key ${direction}, folders.id ${direction}`
    : sql`${updatedAt(restriction)} ${direction}, folders.id ${direction}`;
}
