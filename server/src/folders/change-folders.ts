/** Changing the tree. */

import type { Reader, Transaction } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { newFolderId } from './folder-id.ts';
import { toFolderName } from './folder-name.ts';
import { sortKey } from './sort-key.ts';

const insert = sql<{ id: string; parentId: string | null; name: string; sortKey: Uint8Array; now: number }>`
  insert into folders (id, parent_id, name, sort_key, version, created_at, updated_at)
  values (${'id'}, ${'parentId'}, ${'name'}, ${'sortKey'}, 1, ${'now'}, ${'now'})`;

const anyFolder = sql<object, { id: string }>`select id from folders limit 1`;

/** Answers with the new folder's id. Without a parent it is the root. */
export async function insertFolder(
  transaction: Transaction,
  given: { parentId: string | null; name: string },
  now: number,
): Promise<string> {
  const id = newFolderId(now);
  const name = toFolderName(given.name);
  await transaction.run(insert, { id, parentId: given.parentId, name, sortKey: sortKey(name), now });
  return id;
}

export async function hasRoot(reader: Reader): Promise<boolean> {
  return (await reader.get(anyFolder, {})) !== undefined;
}
