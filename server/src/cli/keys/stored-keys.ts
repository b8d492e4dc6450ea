/** Opens the database with the signing keys, and the master key that seals them. */

import { settingsTable } from '../../config/config.ts';
import type { Database } from '../../database/database.ts';
import { KeyEncryption, type KeyRow } from '../../sessions/signing-keys.ts';
import { StartError } from '../../config/start-error.ts';
import type { CommandInput } from '../command.ts';
import { databaseSettings, onDatabase } from '../database-command.ts';

/** The settings of commands that create or open keys. */
export const keySettings = [...databaseSettings, settingsTable.masterKey];

export interface StoredKeys {
  readonly database: Database;
  readonly encryption: KeyEncryption;
}

export function onKeys<T>(flags: CommandInput['flags'], work: (keys: StoredKeys) => Promise<T>): Promise<T> {
  return onDatabase(flags, ({ database, settings }) =>
    work({ database, encryption: new KeyEncryption(settings.masterKey) }),
  );
}

/** A node with another master key, or without one, could not sign with the stored keys. */
export function requireSameSeal(
  rows: readonly KeyRow[],
  encryption: KeyEncryption,
  { retiredId }: { readonly retiredId?: string } = {},
): void {
  // A retired key need not be readable, but it names the master key in use.
  for (const row of rows)
    if (row.id !== retiredId || row.sealedWith !== encryption.id) encryption.decrypt(row);
  if (encryption.id !== null && rows.some(({ sealedWith }) => sealedWith === null)) {
    throw new StartError(
      'The keys in the database are not sealed, but a master key is set. Start the nodes with it first, or run espalier keys seal.',
    );
  }
}
