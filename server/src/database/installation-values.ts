/** Small values of this installation that are stored in the database, such as its name. */

import type { Database, Reader, Transaction } from './database.ts';
import { sql } from './statement.ts';

/**
 * `copying` marks the destination of an unfinished copy of an installation. `cursorKey` encrypts cursors that contain a
 * confidential position. `write-test` is inserted and deleted in one transaction, so no other transaction sees it.
 */
type InstallationValueName = 'issuer' | 'copying' | 'cursorKey' | 'write-test';

const select = sql<
  { name: InstallationValueName },
  { value: string }
>`select value from settings where name = ${'name'}`;
const insert = sql<{ name: InstallationValueName; value: string }>`
  insert into settings (name, value) values (${'name'}, ${'value'}) on conflict do nothing`;
const remove = sql<{ name: InstallationValueName }>`delete from settings where name = ${'name'}`;

export async function readInstallationValue(
  reader: Reader,
  name: InstallationValueName,
): Promise<string | undefined> {
  return (await reader.get(select, { name }))?.value;
}

/** Leaves an existing value unchanged. */
export async function insertInstallationValue(
  transaction: Transaction,
  name: InstallationValueName,
  value: string,
): Promise<void> {
  await transaction.run(insert, { name, value });
}

/** Tries a small write after a failed write, so that the recorded failure ends even if no client changes anything. */
export async function retryFailedWrite(
  database: Pick<Database, 'writeFailure' | 'transaction'>,
): Promise<void> {
  if (!database.writeFailure()) return;
  const name = 'write-test';
  await database.transaction(async (transaction) => {
    await insertInstallationValue(transaction, name, '');
    await transaction.run(remove, { name });
  });
}
