/**
 * The statements that read sub-folders: for each kind of slice one. Where somebody may not see everything, what they may
 * not see is left out here, before anything is counted, ordered or cut.
 */

import type { Access } from '../access/access.ts';
import { chosenForEach, list, sql, type Statement } from '../database/statement.ts';
import { timeOfKey, type Place } from './cursor.ts';
import { foldText } from './folded-text.ts';
import { withoutNul } from './folder-name.ts';
import { byName, type FolderOrder, type OrderField, type Slice } from './folder-list.ts';
import { columnsFor, type FolderRow } from './folders.ts';

export type Parameters = Record<string, unknown>;

/** All but `parentIds` and `most`. */
export function parametersOf(
  access: Access,
  { after, before, limit, skip, order = byName, filter }: Slice,
): Parameters {
  return {
    afterKey: after && keyParameter(after, order.field),
    afterId: after?.id,
    beforeKey: before && keyParameter(before, order.field),
    beforeId: before?.id,
    // One more than asked for tells whether there is more.
    limit: limit === undefined ? undefined : limit + 1,
    skip,
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
  return foldText(withoutNul(text)).replace(/[\\%_]/g, '\\$&');
}

const statements = new Map<string, Statement<Parameters, FolderRow>>();

/**
 * For whoever does not see everything in what they may read: some of it is hidden, and of some, which is bare, only the
 * name is shown.
 */
export type Restriction = 'none' | 'hidden' | 'bare';

/** There are few kinds of slices; each has its statement, made when it is first asked for. */
export function statementFor(slice: Slice, restriction: Restriction): Statement<Parameters, FolderRow> {
  const { after, before, limit, isFromEnd = false, isInclusive = false, order = byName, filter } = slice;
  const { columns = 'all' } = slice;
  const passesOver = !!slice.skip;
  const edges = [!!after, !!before, isInclusive, passesOver];
  const kind = [...edges, limit !== undefined, isFromEnd, order.field, order.isDescending, !!filter];
  const name = [...kind, columns, restriction].join();
  let statement = statements.get(name);
  if (!statement) statements.set(name, (statement = write()));
  return statement;

  function write(): Statement<Parameters, FolderRow> {
    const conditions = sql`
      ${notHidden(restriction)} ${filter ? matches(restriction) : nothing}
      ${after ? beyond(order, 'after', isInclusive, restriction) : nothing}
      ${before ? beyond(reverse(order), 'before', isInclusive, restriction) : nothing}`;
    const inOrder = orderBy(order, restriction);
    if (limit === undefined) {
      return sql<Parameters, FolderRow>`
        select ${columnsFor[columns]} from folders where parent_id in (select value from ${list('parentIds')}) ${conditions}
        order by folders.parent_id, ${inOrder} limit ${'most'}`;
    }
    const which = sql`
      where parent_id = each.value ${conditions}
      order by ${isFromEnd ? orderBy(reverse(order), restriction) : inOrder}
      limit ${'limit'} ${passesOver ? sql`offset ${'skip'}` : nothing}`;
    return sql<Parameters, FolderRow>`
      select ${columnsFor[columns]} from (select chosen.* from ${chosenForEach('parentIds', 'folders', which, { passesOver })}) as folders
      order by folders.parent_id, ${inOrder} limit ${'most'}`;
  }
}

const countStatements = new Map<Restriction, Statement<Parameters, { parentId: string; count: number }>>();

export function countStatement(
  restriction: Restriction,
): Statement<Parameters, { parentId: string; count: number }> {
  let statement = countStatements.get(restriction);
  if (!statement) {
    statement = sql<Parameters, { parentId: string; count: number }>`
      select parent_id as "parentId", count(*) as count from folders
      where parent_id in (select value from ${list('parentIds')})
      ${notHidden(restriction)} ${matches(restriction)}
      group by parent_id`;
    countStatements.set(restriction, statement);
  }
  return statement;
}

const nothing = sql``;
const notHidden = (restriction: Restriction) =>
  restriction === 'none' ? nothing : sql`and folders.id not in (select value from ${list('hiddenIds')})`;

/** Passages amid what can be read count as never updated: nobody may learn of it from an order or a filter. */
const updatedAt = (restriction: Restriction) =>
  restriction === 'bare'
    ? sql`case when folders.id in (select value from ${list('bareIds')}) then folders.created_at else folders.updated_at end`
    : sql`folders.updated_at`;

const hasVisibleChildren = (restriction: Restriction) =>
  restriction !== 'none'
    ? sql`exists (select 1 from folders as child where child.parent_id = folders.id
        and child.id not in (select value from ${list('hiddenIds')}))`
    : sql`folders.child_count > 0`;

/** A database that wants to know a parameter's type takes it from the first place, which so is not the null. */
const matches = (restriction: Restriction) => sql`
  and (folders.folded_name like ${'contains'} escape '\\' or ${'contains'} is null)
  and (folders.folded_name like ${'startsWith'} escape '\\' or ${'startsWith'} is null)
  and ((${hasVisibleChildren(restriction)}) = (${'hasChildren'} = 1) or ${'hasChildren'} is null)
  and (${updatedAt(restriction)} >= ${'updatedSince'} or ${'updatedSince'} is null)`;

function reverse({ field, isDescending }: FolderOrder): FolderOrder {
  return { field, isDescending: !isDescending };
}

function beyond(
  { field, isDescending }: FolderOrder,
  edge: 'after' | 'before',
  isInclusive: boolean,
  restriction: Restriction,
): Statement {
  const sign: Statement = { parts: [(isDescending ? '<' : '>') + (isInclusive ? '=' : '')] };
  if (field === 'CREATED') return sql`and folders.id ${sign} ${`${edge}Id`}`;
  const key = field === 'NAME' ? sql`folders.sort_key` : updatedAt(restriction);
  return sql`and (${key}, folders.id) ${sign} (${`${edge}Key`}, ${`${edge}Id`})`;
}

function orderBy({ field, isDescending }: FolderOrder, restriction: Restriction): Statement {
  const way = isDescending ? sql`desc` : sql``;
  if (field === 'CREATED') return sql`folders.id ${way}`;
  return field === 'NAME'
    ? sql`folders.sort_key ${way}, folders.id ${way}`
    : sql`${updatedAt(restriction)} ${way}, folders.id ${way}`;
}
