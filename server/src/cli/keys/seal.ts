/** `espalier keys seal`: seals the private keys in the database with the master key, or with another one than before. */

import { readInputFile } from '../../config/config.ts';
import { runChange } from '../../journal/journal.ts';
import { encryptKeys as sealAll } from '../../sessions/manage-signing-keys.ts';
import { createKeyEncryption, type KeyEncryption } from '../../sessions/key-encryption.ts';
import { readKeyRows, type KeyRow } from '../../sessions/signing-keys.ts';
import { StartError } from '../../config/start-error.ts';
import { command, json } from '../command.ts';
import { print, printJson } from '../output.ts';
import { keySettings, onKeys } from './stored-keys.ts';

export const encryptKeys = command({
  options: {
    oldMasterKeyFile: {
      value: 'path',
      about: 'The master key that the keys are sealed with until now',
      completes: 'file',
    },
    json,
  },
  settings: keySettings,
  details: `With ESPALIER_MASTER_KEY, or with another one than before: then the old one is in the file of --old-master-key-file.
Without ESPALIER_MASTER_KEY they are stored unsealed.`,
  run: ({ options, flags }) =>
    onKeys(flags, async ({ database, encryption }) => {
      const { oldMasterKeyFile } = options;
      const old = createKeyEncryption(
        oldMasterKeyFile && readInputFile('--old-master-key-file', oldMasterKeyFile).text,
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
      ? `The keys are sealed with another master key (${other.sealedWith}). Give it by --old-master-key-file.`
      : `The file of --old-master-key-file holds the master key ${old.id}, and the keys are sealed with ${other.sealedWith}.`,
  );
}

function describeResult(count: number, { id }: KeyEncryption): string {
  const how = id === null ? 'stored without a master key' : `sealed with the master key ${id}`;
  if (count === 0) return `Nothing to do: every key is ${how}.`;
  return `${count} ${count === 1 ? 'key is' : 'keys are'} ${how}. Restart every node with that before the next key is made.
Backups of before hold the keys as they were: whoever may have one may have the keys, and rotating alone does not end that.
After the restart, either
- run espalier keys rotate, and when the new key signs, espalier keys retire <id> for each key before it: whoever still
  holds a token of that one logs in again; or
- do not wait, and run espalier keys retire <id> --at-once: everybody who is logged in logs in again.
espalier keys list shows the ids, and which key signs.`;
}
