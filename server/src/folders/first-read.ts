/**
 * The first read of a query or mutation about one folder: the head of the journal, the folder with its ancestors, and a page of its
 * children. On a remote database, the first read is one statement.
 */

import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { ConsistentReader, Reader } from '../database/database.ts';
import { columnsOf, jsonRows, sql, type ListOfEach, type Statement } from '../database/statement.ts';
import type { JournalHead } from '../journal/journal.ts';
import {
  findById,
  folderColumns,
  noRows,
  type FirstRead,
  type FolderRow,
  type LongTexts,
  type PageRead,
  type WithParent,
} from './tree-view.ts';

type FirstRow = JournalHead & LongTexts & { [Column in keyof FolderRow]: FolderRow[Column] | null };

const firstColumns = sql`journal_counter.number, journal_counter.nonce,
  journal_counter.access_number as "accessNumber",
  ${folderColumns}, folders.icon, folders.description, folders.properties`;

const findFirst = sql<{ id: string }, FirstRow>`
  select ${firstColumns} from journal_counter left join folders on folders.id = ${'id'}`;

const ancestorColumns = [
  'id',
  'parent_id',
  'name',
  'title',
  'child_count',
  'version',
  'created_at',
  'updated_at',
];

const createFirstStatement = (list: Statement) => sql<{ id: string }, FirstRow & FirstLists>`
  with recursive up as (
    select ${columnsOf('folders', ancestorColumns)} from folders where id = ${'id'}
    union
    select ${columnsOf('folders', ancestorColumns)} from up join folders on folders.id = up.parent_id
  )
  select ${firstColumns},
    (select ${jsonRows('up', ancestorColumns)} from up where up.id <> ${'id'}) as ancestors,
    ${list} as list
  from journal_counter left join folders on folders.id = ${'id'}`;

interface FirstLists {
  readonly ancestors: readonly AncestorValues[] | null;
  readonly list: ListOfEach['list'] | null;
}

/** In the order of `ancestorColumns`. `toAncestor` reads them by position. */
type AncestorValues = readonly [
  id: string,
  parentId: string | null,
  name: string,
  title: string | null,
  childCount: number,
  version: number,
  createdAt: number,
  updatedAt: number,
];

const findFirstWithAncestors = createFirstStatement(sql`null`);
const findFirstWithPage = new WeakMap<Statement, typeof findFirstWithAncestors>();

function firstStatementFor(page: PageRead | undefined): typeof findFirstWithAncestors {
  if (!page) return findFirstWithAncestors;
  const { statement } = page;
  let found = findFirstWithPage.get(statement);
  if (!found) {
    found = createFirstStatement(sql`(select lists.list from (${statement}) as lists)`);
    findFirstWithPage.set(statement, found);
  }
  return found;
}

const findParentId = sql<{ id: string }, WithParent>`
  select parent_id as "parentId" from folders where id = ${'id'}`;

interface FirstReadOptions {
  /** Reading stops before this folder. Used only on an embedded database, and only without `withAncestors`. */
  readonly rootId?: string | undefined;
  /** Reads the rows of the ancestors, not only their ids. A remote database always returns them. */
  readonly withAncestors?: boolean;
  /** Read in the same statement. Ignored on an embedded database, which reads the page later at no extra cost. */
  readonly page?: PageRead | undefined;
}

export function readFirst(
  reader: Reader & Pick<ConsistentReader, 'isEmbedded'>,
  id: string,
  { rootId, withAncestors = false, page }: FirstReadOptions,
): PromiseOrValue<FirstRead> {
  if (reader.isEmbedded) {
    const found = reader.get(findFirst, { id }) as FirstRow;
    const head = toHead(found);
    const row = toFirstRow(found);
    if (!row) return { head, rows: noRows, parents: noRows };
    const rows = new Map([[id, row]]);
    const parents = withAncestors
      ? addAncestors(reader, findById, row, rows)
      : addAncestors(reader, findParentId, row, new Map<string, WithParent>(rows), rootId);
    return { head, rows, parents };
  }
  return whenDone(reader.get(firstStatementFor(page), { ...page?.parameters, id }), (found) => {
    const head = toHead(found!);
    const row = toFirstRow(found!);
    if (!row) return { head, rows: noRows, parents: noRows };
    const above = (found!.ancestors ?? []).map(toAncestor);
    const rows = new Map([row, ...above].map((each) => [each.id, each]));
    const firstPage = page && { ...page, rows: [{ position: 0, list: found!.list ?? [] }] };
    return { head, rows, parents: rows, page: firstPage };
  });
}

function toAncestor(values: AncestorValues): FolderRow {
  const [id, parentId, name, title, childCount, version, createdAt, updatedAt] = values;
  return { id, parentId, name, title, childCount, version, createdAt, updatedAt };
}

// Lists every member, because object rest syntax would take longer than the SQL statement itself.
function toFirstRow(found: FirstRow): FolderRow | undefined {
  if (found.id === null) return undefined;
  const { id, parentId, name, title, childCount, version, createdAt, updatedAt } = found as FolderRow;
  const { icon, description, properties } = found;
  const texts = { icon, description, properties };
  return { id, parentId, name, title, childCount, version, createdAt, updatedAt, texts };
}

function toHead({ number, nonce, accessNumber }: FirstRow): JournalHead {
  return { number, nonce, accessNumber };
}

/** Reads parent by parent: on an embedded database this takes half the time of a recursive statement. */
function addAncestors<Row extends WithParent>(
  reader: Reader,
  statement: Statement<{ id: string }, Row>,
  { parentId }: WithParent,
  rows: Map<string, Row>,
  rootId?: string,
): Map<string, Row> {
  for (let id = parentId; id !== null && id !== rootId && !rows.has(id);) {
    const ancestor = reader.get(statement, { id }) as Row | undefined;
    if (ancestor) rows.set(id, ancestor);
    id = ancestor?.parentId ?? null;
  }
  return rows;
}
