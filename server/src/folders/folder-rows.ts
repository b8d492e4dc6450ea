/** Rows of folders as they are first written. */

import type { PromiseOrValue, Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { newFolderId } from './folder-id.ts';
import type { FolderTexts } from './folder-texts.ts';
import { foldStored } from './folded-text.ts';
import { sortKey } from './sort-key.ts';

export interface NewRow extends FolderTexts {
  readonly id: string;
  readonly parentId: string | null;
  readonly name: string;
  readonly sortKey: Uint8Array;
  readonly foldedName: string;
  readonly foldedTitle: string | null;
  childCount: number;
  /** How many levels are inside. */
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

/** From a name and texts that have been checked. */
export function newRow(
  given: Partial<FolderTexts> & { readonly name: string; readonly parentId: string | null },
  now: number,
  id = newFolderId(now),
): NewRow {
  const { name, parentId, title = null, icon = null, description = null, properties = null } = given;
  return {
    id,
    parentId,
    name,
    title,
    icon,
    description,
    properties,
    sortKey: sortKey(name),
    foldedName: foldStored(name),
    foldedTitle: title && foldStored(title),
    childCount: 0,
    height: 0,
    now,
  };
}

/** Refuses if the name is not free. */
export function insertRow(transaction: Transaction, row: NewRow, refuse?: () => Error): void {
  transaction.queue(insertIfFree, row, refuse);
  transaction.queue(countNumber, {});
}

export async function insertRows(transaction: Transaction, rows: readonly NewRow[]): Promise<void> {
  await withNumbers(transaction, rows, (numbered) => transaction.runEach(insert, numbered));
}

/** Folders are numbered in the order of their coming, for search to go through them: it learns of them at the end. */
async function withNumbers<T extends object>(
  transaction: Transaction,
  rows: readonly T[],
  write: (numbered: (T & { number: number })[]) => PromiseOrValue<void>,
): Promise<void> {
  const { last } = (await transaction.get(findLastNumber, {}))!;
  await write(rows.map((row, place) => ({ ...row, number: last + 1 + place })));
  await transaction.run(setLastNumber, { last: last + rows.length });
}

const findNotNumbered = sql<object, { id: string; name: string }>`
  select id, name from folders where number is null order by id limit 1000`;
const setNumber = sql<{ id: string; number: number; foldedName: string }>`
  update folders set number = ${'number'}, folded_name = ${'foldedName'} where id = ${'id'}`;

/** Makes folders that are older than search known to it. */
export async function numberFolders(transaction: Transaction): Promise<void> {
  for (;;) {
    const folders = await transaction.all(findNotNumbered, {});
    if (folders.length === 0) return;
    const folded = folders.map(({ id, name }) => ({ id, foldedName: foldStored(name) }));
    await withNumbers(transaction, folded, (numbered) => transaction.runEach(setNumber, numbered));
  }
}

/** Makes the root of a new tree; changes nothing if there is one. */
export async function ensureRoot(transaction: Transaction, name: string, now: number): Promise<void> {
  if (await transaction.get(findRoot, {})) return;
  insertRow(transaction, newRow({ parentId: null, name }, now));
}
