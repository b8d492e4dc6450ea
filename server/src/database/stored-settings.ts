/** Small facts about this installation that live in the database, such as its name. */

import type { Database, Reader, Transaction } from './database.ts';
import { sql } from './statement.ts';

/**
 * `copying` marks a database into which an installation is being copied, until all of it is there. `cursorKey` encrypts
 * cursors whose position must not be readable. `write-test` is never committed with a value: it is inserted and deleted in
 * one transaction.
 */
type StoredName = 'issuer' | 'copying' | 'cursorKey' | 'write-test';

const select = sql<
  { name: StoredName },
  { value: string }
>`select value from settings where name = ${'name'}`;
const insert = sql<{ name: StoredName; value: string }>`
  insert into settings (name, value) values (${'name'}, ${'value'}) on conflict do nothing`;
const remove = sql<{ name: StoredName }>`delete from settings where name = ${'name'}`;

export async function readStored(reader: Reader, name: StoredName): Promise<string | undefined> {
  return (await reader.get(select, { name }))?.value;
}

/** Keeps what is stored already. */
export async function storeOnce(transaction: Transaction, name: StoredName, value: string): Promise<void> {
  await transaction.run(insert, { name, value });
}

/** After a write has failed: tries a small one, so that the failure is over even if no client changes anything. */
export async function retryFailedWrite(
  database: Pick<Database, 'writeFailure' | 'transaction'>,
): Promise<void> {
  if (!database.writeFailure()) return;
  const name = 'write-test';
  await database.transaction(async (transaction) => {
    await storeOnce(transaction, name, '');
    await transaction.run(remove, { name });
  });
}
