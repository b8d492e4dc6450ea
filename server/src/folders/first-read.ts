/**
 * The first read of a response that shows one folder: the head of the journal, the folder with its ancestors, and a page of its
 * children. On a remote database it is one statement.
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
  type Step,
} from './folders.ts';

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

const withAncestors = (list: Statement) => sql<{ id: string }, FirstRow & FirstLists>`
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
  readonly ancestors: readonly AncestorColumns[] | null;
  readonly list: ListOfEach['list'] | null;
}

type AncestorColumns = readonly [
  id: string,
  parentId: string | null,
  name: string,
  title: string | null,
  childCount: number,
  version: number,
  createdAt: number,
  updatedAt: number,
];

const findFirstWithAncestors = withAncestors(sql`null`);
const findFirstWithPage = new WeakMap<Statement, typeof findFirstWithAncestors>();

function firstStatement(page: PageRead | undefined): typeof findFirstWithAncestors {
  if (!page) return findFirstWithAncestors;
  const { statement } = page;
  let found = findFirstWithPage.get(statement);
  if (!found) {
    found = withAncestors(sql`(select lists.list from (${statement}) as lists)`);
    findFirstWithPage.set(statement, found);
  }
  return found;
}

const findParentId = sql<{ id: string }, { parentId: string | null }>`
  select parent_id as "parentId" from folders where id = ${'id'}`;

export interface FirstReadOptions {
  /** Ancestors are read up to this folder. */
  readonly rootId?: string | undefined;
  /** Reads the rows of the ancestors, not only their ids. A remote database always returns them. */
  readonly withAncestors?: boolean;
  /** Read in the same statement, except on an embedded database, where that gains nothing. */
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
    if (!row) return { head, rows: noRows, steps: [] };
    const rows = new Map([[id, row]]);
    if (!withAncestors) return { head, rows, steps: stepsAbove(reader, row, rootId) };
    addRowsAbove(reader, row, rows);
    return { head, rows, steps: stepsOf(rows) };
  }
  return whenDone(reader.get(firstStatement(page), { ...page?.parameters, id }), (found) => {
    const head = toHead(found!);
    const row = toFirstRow(found!);
    if (!row) return { head, rows: noRows, steps: [] };
    const above = (found!.ancestors ?? []).map(toAncestor);
    const rows = new Map([row, ...above].map((each) => [each.id, each]));
    const firstPage = page && { ...page, rows: [{ position: 0, list: found!.list ?? [] }] };
    return { head, rows, steps: stepsOf(rows), page: firstPage };
  });
}

function toAncestor(columns: AncestorColumns): FolderRow {
  const [id, parentId, name, title, childCount, version, createdAt, updatedAt] = columns;
  return { id, parentId, name, title, childCount, version, createdAt, updatedAt };
}

export function* stepsOf(rows: ReadonlyMap<string, FolderRow>): Iterable<Step> {
  for (const { id, parentId } of rows.values()) yield [id, parentId];
}

// Lists every member: object rest syntax takes longer than the statement.
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
function stepsAbove(
  reader: Reader,
  { id, parentId }: FolderRow,
  rootId: string | undefined,
): readonly Step[] {
  const steps = new Map([[id, parentId]]);
  for (let at = parentId; at !== null && at !== rootId && !steps.has(at);) {
    const above = reader.get(findParentId, { id: at }) as { parentId: string | null } | undefined;
    steps.set(at, above?.parentId ?? null);
    at = above?.parentId ?? null;
  }
  return [...steps];
}

function addRowsAbove(reader: Reader, { parentId }: FolderRow, rows: Map<string, FolderRow>): void {
  for (let at = parentId; at !== null && !rows.has(at);) {
    const above = reader.get(findById, { id: at }) as FolderRow | undefined;
    if (above) rows.set(at, above);
    at = above?.parentId ?? null;
  }
}
