/** Small facts about this installation that live in the database, such as its name. */

import type { Reader, Transaction } from './database.ts';
import { sql } from './statement.ts';

/** `copying` marks a database into which an installation is being copied, until all of it is there. */
type StoredName = 'issuer' | 'copying';

const select = sql<
  { name: StoredName },
  { value: string }
>`select value from settings where name = ${'name'}`;
const insert = sql<{ name: StoredName; value: string }>`
  insert into settings (name, value) values (${'name'}, ${'value'}) on conflict do nothing`;

export async function readStored(reader: Reader, name: StoredName): Promise<string | undefined> {
  return (await reader.get(select, { name }))?.value;
}

/** Keeps what is stored already. */
export async function storeOnce(transaction: Transaction, name: StoredName, value: string): Promise<void> {
  await transaction.run(insert, { name, value });
}
