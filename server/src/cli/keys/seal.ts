/** `espalier keys seal`: seals the private keys in the database with the current master key. */

import { readInputFile } from '../../config/config.ts';
import { runChange } from '../../journal/journal.ts';
import { encryptKeys as sealAll } from '../../sessions/manage-signing-keys.ts';
import { KeyEncryption, readKeyRows, type KeyRow } from '../../sessions/signing-keys.ts';
import { StartError } from '../../config/start-error.ts';
import { command, json } from '../command.ts';
import { print, printJson } from '../terminal/output.ts';
import { keySettings, onKeys } from './stored-keys.ts';

export const encryptKeys = command({
  options: {
    oldMasterKeyFile: {
      value: 'path',
      about: 'The file with the old master key',
      completes: 'file',
    },
    json,
  },
  settings: keySettings,
  details: `Seals the keys with ESPALIER_MASTER_KEY. If another master key has sealed them, pass its file with --old-master-key-file.
Without ESPALIER_MASTER_KEY, stores the keys unsealed.`,
  run: ({ options, flags }) =>
    onKeys(flags, async ({ database, encryption }) => {
      const { oldMasterKeyFile } = options;
      const old = new KeyEncryption(
        oldMasterKeyFile && readInputFile('--old-master-key-file', oldMasterKeyFile),
      );
      const count = await runChange(database, async (transaction) => {
        const rows = (await readKeyRows(transaction)).filter(
          ({ sealedWith }) => sealedWith !== encryption.id,
        );
        requireOld(rows, old);
        await sealAll(transaction, rows, { from: old, to: encryption });
        return rows.length;
      });
      await (options.json
        ? printJson({ changed: count, sealedWith: encryption.id })
        : print(describeResult(count, encryption)));
    }),
});

function requireOld(rows: readonly KeyRow[], old: KeyEncryption): void {
  const other = rows.find(({ sealedWith }) => sealedWith !== null && sealedWith !== old.id);
  if (!other) return;
  throw new StartError(
    old.id === null
      ? `The keys are sealed with another master key (${other.sealedWith}). Pass its file with --old-master-key-file.`
      : `--old-master-key-file contains the master key ${old.id}, but the keys are sealed with ${other.sealedWith}.`,
  );
}

function describeResult(count: number, { id }: KeyEncryption): string {
  const how = id === null ? 'stored without a master key' : `sealed with the master key ${id}`;
  if (count === 0) return `Nothing to do: every key is ${how}.`;
  return `${count} ${count === 1 ? 'key is' : 'keys are'} ${how}. Restart every node with the same ESPALIER_MASTER_KEY before the next key is created.
Older backups still contain the keys as they were. If others may have such a backup, a rotation alone is not enough.
After the restart, do one of the following:
- Run espalier keys rotate. When the new key signs, run espalier keys retire <id> for each older key. Clients with a token
  of an older key must log in again.
- Without waiting, run espalier keys retire <id> --at-once. All users must log in again.
Run espalier keys list for the ids and to see which key signs.`;
}
