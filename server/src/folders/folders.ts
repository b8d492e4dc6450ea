/** Reading the tree. One statement answers for any number of parents, however many children they have. */

import { whenDone, type PromiseOrValue, type Reader } from '../database/database.ts';
import { chosenForEach, list, sql, type Statement } from '../database/statement.ts';
import type { Position } from './cursor.ts';
import { isFolderId } from './folder-id.ts';

export interface Folder {
  readonly id: string;
  readonly parentId: string | null;
  readonly name: string;
}

/** A part of a list of children: what lies between two positions, and no more than `limit` from one end of that. */
export interface Slice {
  readonly after?: Position | undefined;
  readonly before?: Position | undefined;
  readonly limit?: number | undefined;
  readonly isFromEnd?: boolean | undefined;
}

export interface Children {
  readonly folders: Folder[];
  /** The limit left some out. */
  readonly isCut: boolean;
}

const selectFolder = sql`select id, parent_id as "parentId", name from folders`;
const findRoot = sql<object, Folder>`${selectFolder} where parent_id is null`;
const findById = sql<{ id: string }, Folder>`${selectFolder} where id = ${'id'}`;

// A cross join is SQLite's way to keep the order of the tables: one look-up by name for each step.
const findByPath = sql<{ names: string[]; length: number }, Folder>`
  with recursive walk (id, parent_id, name, depth) as (
    select id, parent_id, name, 0 from folders where parent_id is null
    union all
    select folders.id, folders.parent_id, folders.name, walk.depth + 1
    from walk cross join ${list('names')} cross join folders
    where each.place = walk.depth and folders.parent_id = walk.id and folders.name = each.value
  )
  select id, parent_id as "parentId", name from walk where depth = ${'length'}`;

const countByParent = sql<{ parentIds: readonly string[] }, { parentId: string; count: number }>`
  select parent_id as "parentId", count(*) as count from folders
  where parent_id in (select value from ${list('parentIds')}) group by parent_id`;

const findAtOrBefore = sql<Position & { parentId: string }, { id: string }>`
  select id from folders where parent_id = ${'parentId'} and (sort_key, id) <= (${'sortKey'}, ${'id'}) limit 1`;
const findAtOrAfter = sql<Position & { parentId: string }, { id: string }>`
  select id from folders where parent_id = ${'parentId'} and (sort_key, id) >= (${'sortKey'}, ${'id'}) limit 1`;

export function readRoot(reader: Reader): PromiseOrValue<Folder> {
  return whenDone(reader.get(findRoot, {}), (root) => {
    if (!root) throw new Error('The tree has no root.');
    return root;
  });
}

export function readFolder(reader: Reader, id: string): PromiseOrValue<Folder | undefined> {
  return isFolderId(id) ? reader.get(findById, { id }) : undefined;
}

/** `names` lead from the root down; none of them is the root itself. */
export function readFolderByPath(
  reader: Reader,
  names: readonly string[],
): PromiseOrValue<Folder | undefined> {
  return reader.get(findByPath, {
    names: names.map((name) => name.normalize('NFC')),
    length: names.length,
  });
}

/** The children of each parent in order; a parent without any is not in the map. */
export function readChildren(
  reader: Reader,
  parentIds: readonly string[],
  slice: Slice,
): PromiseOrValue<Map<string, Children>> {
  const parameters = {
    parentIds,
    afterKey: slice.after?.sortKey,
    afterId: slice.after?.id,
    beforeKey: slice.before?.sortKey,
    beforeId: slice.before?.id,
    // One more than asked for tells whether there is more.
    limit: slice.limit === undefined ? undefined : slice.limit + 1,
  };
  return whenDone(reader.all(statementFor(slice), parameters), (rows) => byParent(rows, slice));
}

export function countChildren(
  reader: Reader,
  parentIds: readonly string[],
): PromiseOrValue<Map<string, number>> {
  return whenDone(
    reader.all(countByParent, { parentIds }),
    (rows) => new Map(rows.map(({ parentId, count }) => [parentId, count])),
  );
}

export function hasChildrenAtOrBefore(
  reader: Reader,
  parentId: string,
  position: Position,
): PromiseOrValue<boolean> {
  return whenDone(reader.get(findAtOrBefore, { parentId, ...position }), Boolean);
}

export function hasChildrenAtOrAfter(
  reader: Reader,
  parentId: string,
  position: Position,
): PromiseOrValue<boolean> {
  return whenDone(reader.get(findAtOrAfter, { parentId, ...position }), Boolean);
}

function byParent(rows: Folder[], { limit = Infinity, isFromEnd }: Slice): Map<string, Children> {
  const children = new Map<string, Children>();
  let start = 0;
  for (let end = 1; end <= rows.length; end++) {
    const { parentId } = rows[start]!;
    if (rows[end]?.parentId === parentId) continue;
    const folders = rows.slice(start, end);
    const isCut = folders.length > limit;
    if (isCut) isFromEnd ? folders.shift() : folders.pop();
    children.set(parentId!, { folders, isCut });
    start = end;
  }
  return children;
}

type SliceParameters = Record<string, unknown>;

const allChildren = sql<SliceParameters, Folder>`
  ${selectFolder} where parent_id in (select value from ${list('parentIds')})
  order by parent_id, sort_key, id`;

const sliceStatements = new Map<string, Statement<SliceParameters, Folder>>();

/** There are few kinds of slices; each has its statement, made when it is first asked for. */
function statementFor({ after, before, limit, isFromEnd }: Slice): Statement<SliceParameters, Folder> {
  if (!after && !before && limit === undefined) return allChildren;
  const kind = [
    after && 'after',
    before && 'before',
    limit !== undefined && 'limit',
    isFromEnd && 'end',
  ].join();
  let statement = sliceStatements.get(kind);
  if (!statement) {
    const choice = sql`
      select id from folders where parent_id = each.value
      ${after ? sql`and (sort_key, id) > (${'afterKey'}, ${'afterId'})` : sql``}
      ${before ? sql`and (sort_key, id) < (${'beforeKey'}, ${'beforeId'})` : sql``}
      ${isFromEnd ? sql`order by sort_key desc, id desc` : sql`order by sort_key, id`}
      ${limit === undefined ? sql`` : sql`limit ${'limit'}`}`;
    statement = sql<SliceParameters, Folder>`
      select chosen.id, chosen.parent_id as "parentId", chosen.name
      from ${chosenForEach('parentIds', 'folders', choice)}
      order by chosen.parent_id, chosen.sort_key, chosen.id`;
    sliceStatements.set(kind, statement);
  }
  return statement;
}
