/** New rows of folders, and their ids. */

import { randomUUID } from 'node:crypto';
import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { foldForStorage, sortKey, type FolderTexts } from './folder-texts.ts';

export interface NewRow extends FolderTexts {
  readonly id: string;
  readonly parentId: string | null;
  readonly name: string;
  readonly sortKey: Uint8Array;
  readonly foldedName: string;
  readonly foldedTitle: string | null;
  childCount: number;
  /** The number of levels inside the folder. */
  height: number;
  readonly now: number;
}

const columns = sql`id, parent_id, name, sort_key, folded_name, title, folded_title, icon, description, properties,
  child_count, height, number, version, created_at, updated_at`;
const valuesBefore = sql`${'id'}, ${'parentId'}, ${'name'}, ${'sortKey'}, ${'foldedName'}, ${'title'}, ${'foldedTitle'},
  ${'icon'}, ${'description'}, ${'properties'}, ${'childCount'}, ${'height'}`;
const valuesAfter = sql`1, ${'now'}, ${'now'}`;

const insert = sql<NewRow & { number: number }>`
  insert into folders (${columns}) values (${valuesBefore}, ${'number'}, ${valuesAfter})`;
const insertIfFree = sql<NewRow>`
  insert into folders (${columns}) values (${valuesBefore}, (select last + 1 from folder_numbers), ${valuesAfter})
  on conflict (parent_id, name) do nothing`;

const findLastNumber = sql<object, { last: number }>`select last from folder_numbers`;
const countNumber = sql<object>`update folder_numbers set last = last + 1`;
const setLastNumber = sql<{ last: number }>`update folder_numbers set last = ${'last'}`;
const findRoot = sql<object, { id: string }>`
  select id from folders where parent_id is null and detached_at is null`;

/** The name and the texts must have been checked. */
export function newRow(
  input: Partial<FolderTexts> & { readonly name: string; readonly parentId: string | null },
  now: number,
  id = newFolderId(now),
): NewRow {
  const { name, parentId, title = null, icon = null, description = null, properties = null } = input;
  return {
    id,
    parentId,
    name,
    title,
    icon,
    description,
    properties,
    sortKey: sortKey(name),
    foldedName: foldForStorage(name),
    foldedTitle: title && foldForStorage(title),
    childCount: 0,
    height: 0,
    now,
  };
}

/** Fails with the error of `refuse` if the name is not free. */
export function insertRow(transaction: Transaction, row: NewRow, refuse?: () => Error): void {
  transaction.queue(insertIfFree, row, refuse);
  transaction.queue(countNumber, {});
}

export async function insertRows(transaction: Transaction, rows: readonly NewRow[]): Promise<void> {
  await withNumbers(transaction, rows, (numbered) => transaction.runEach(insert, numbered));
}

/** Search pages through folders in the order of these numbers, so a new folder has the highest number. */
async function withNumbers<T extends object>(
  transaction: Transaction,
  rows: readonly T[],
  write: (numbered: (T & { number: number })[]) => PromiseOrValue<void>,
): Promise<void> {
  const { last } = (await transaction.get(findLastNumber, {}))!;
  await write(rows.map((row, index) => ({ ...row, number: last + 1 + index })));
  await transaction.run(setLastNumber, { last: last + rows.length });
}

const findNotNumbered = sql<object, { id: string; name: string }>`
  select id, name from folders where number is null order by id limit 1000`;
const setNumber = sql<{ id: string; number: number; foldedName: string }>`
  update folders set number = ${'number'}, folded_name = ${'foldedName'} where id = ${'id'}`;

/** Numbers the folders of a database that was created before search existed. */
export async function numberFolders(transaction: Transaction): Promise<void> {
  for (;;) {
    const folders = await transaction.all(findNotNumbered, {});
    if (folders.length === 0) return;
    const folded = folders.map(({ id, name }) => ({ id, foldedName: foldForStorage(name) }));
    await withNumbers(transaction, folded, (numbered) => transaction.runEach(setNumber, numbered));
  }
}

/** Creates the root, unless there is one. */
export async function ensureRoot(transaction: Transaction, name: string, now: number): Promise<void> {
  if (await transaction.get(findRoot, {})) return;
  insertRow(transaction, newRow({ parentId: null, name }, now));
}

/** A UUID that grows with time (RFC 9562, version 7), so that new rows are adjacent in the index. */
export function newFolderId(now: number): string {
  return `${timePart(now)}-7${randomUUID().slice(15)}`;
}

/**
 * Ids for up to a million folders that are created together. Each id is greater than the one before (RFC 9562 §6.2), so the rows are
 * adjacent. Random gaps hide how many folders are between two ids.
 */
export function newFolderIds(now: number): () => string {
  const time = timePart(now);
  let count = 0;
  return () => {
    const random = randomUUID();
    count += 1 + parseInt(random[0]!, 16);
    const digits = count.toString(16).padStart(6, '0');
    return `${time}-7${digits.slice(0, 3)}-8${digits.slice(3)}-${random.slice(24)}`;
  };
}

function timePart(now: number): string {
  return now.toString(16).padStart(12, '0').replace(/^.{8}/, '$&-');
}

export function toFolderId(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

export function toIdBytes(id: string): Buffer {
  return Buffer.from(id.replaceAll('-', ''), 'hex');
}
