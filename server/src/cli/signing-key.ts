/** `espalier signing-key`: the keys that sign auth tokens, directly on the database. */

import { systemClock } from '../clock.ts';
import { readInputFile } from '../config/read-setting.ts';
import { settingsTable } from '../config/settings-table.ts';
import { StartError, UsageError } from '../config/start-error.ts';
import { createFactorEncryption } from '../accounts/second-factors/factors.ts';
import { reencryptTotpSecrets } from '../accounts/second-factors/encrypted-secrets.ts';
import type { SecretEncryption } from '../database/encryption.ts';
import type { Database } from '../database/database.ts';
import { runChange } from '../journal/journal.ts';
import {
  encryptKeys,
  formatMinute,
  formatTime,
  listKeyStatuses,
  retireAllKeys,
  retireSigningKey,
  rotateSigningKey,
} from '../sessions/manage-signing-keys.ts';
import { KeyEncryption, readKeyRows, type KeyRow } from '../sessions/signing-keys.ts';
import { command, json, type Group, type SettingFlags } from './command.ts';
import { databaseSettings, onDatabase } from './database-command.ts';
import { formatTable, toMinute } from './terminal/output.ts';

/** The settings of commands that create or open keys. */
const keySettings = [...databaseSettings, settingsTable.masterKey];

interface StoredKeys {
  readonly database: Database;
  readonly encryption: KeyEncryption;
  readonly factorEncryption: SecretEncryption;
}

function onKeys<T>(flags: SettingFlags, work: (keys: StoredKeys) => Promise<T>): Promise<T> {
  return onDatabase(flags, ({ database, settings }) =>
    work({
      database,
      encryption: new KeyEncryption(settings.masterKey),
      factorEncryption: createFactorEncryption(settings.masterKey),
    }),
  );
}

/** A node with another master key, or without one, could not sign with the stored keys. */
function requireSameSeal(
  rows: readonly KeyRow[],
  encryption: KeyEncryption,
  { retiredId }: { readonly retiredId?: string } = {},
): void {
  // A retired key need not be readable, but it names the master key in use.
  for (const row of rows)
    if (row.id !== retiredId || row.sealedWith !== encryption.id) encryption.decrypt(row);
  if (encryption.id !== null && rows.some(({ sealedWith }) => sealedWith === null)) {
    throw new StartError(
      "The keys in the database are not sealed, but a master key is set. Start the servers with this master key first, or run 'espalier signing-key seal'.",
    );
  }
}

const list = command({
  about: 'List the keys that sign auth tokens',
  aliases: ['ls'],
  options: { json },
  settings: [...databaseSettings, settingsTable.refreshTokenSeconds],
  details: `One key signs tokens. A published key signs later. The other keys verify tokens that they signed before. You can also run
'espalier signing-key'.`,
  examples: ['espalier signing-key list', 'espalier signing-key'],
  run: ({ flags }) =>
    onDatabase(flags, async ({ database, settings }) => {
      const statuses = describeKeys(await readKeyRows(database), settings.refreshTokenSeconds);
      const rows = statuses.map((each) => [
        each.id,
        each.state,
        toMinute(each.signsFrom),
        toMinute(each.neededUntil),
        each.sealedWith,
      ]);
      const headings = ['Key', 'State', 'Signs from (UTC)', 'Needed until (UTC)', 'Sealed with'];
      return { data: statuses, text: formatTable(headings, rows) };
    }),
});

function describeKeys(rows: readonly KeyRow[], refreshTokenSeconds: number) {
  return listKeyStatuses(rows, { now: systemClock.now(), refreshTokenSeconds }).map((key) => ({
    ...key,
    createdAt: formatTime(key.createdAt),
    signsFrom: formatTime(key.signsFrom),
    neededUntil: key.neededUntil === null ? null : formatTime(key.neededUntil),
  }));
}

const rotate = command({
  about: 'Publish a new signing key, which becomes active later',
  options: { json },
  settings: keySettings,
  details: `The new key signs after five minutes, when every server and every other service that verifies tokens has read it. Users stay
logged in. Servers rotate keys automatically every ${settingsTable.keyRotationDays.default} days (ESPALIER_KEY_ROTATION_DAYS).`,
  examples: ['espalier signing-key rotate'],
  run: ({ flags }) =>
    onKeys(flags, async ({ database, encryption }) => {
      const { id, signsFrom } = await runChange(database, async (transaction) => {
        requireSameSeal(await readKeyRows(transaction), encryption);
        return rotateSigningKey(transaction, { encryption, now: systemClock.now() });
      });
      const text = `The key ${id} is published and signs from ${formatMinute(signsFrom)} on.
Older keys continue to verify tokens as long as a session can need them. Users stay logged in.`;
      return { data: { id, signsFrom: formatTime(signsFrom) }, text };
    }),
});

interface Retirement {
  readonly retired: readonly string[];
  /** False if no token was signed with it. */
  readonly hasSigned: boolean;
  /** The key that signs instead. */
  readonly replacement: string | null;
}

const retire = command({
  about: 'Retire a signing key and invalidate the tokens that it signed',
  words: [{ name: 'id', about: "The id of the key, from 'espalier signing-key list'", isOptional: true }],
  options: {
    atOnce: { about: 'Retire the key even if it signs now, and replace it with a new key' },
    all: { about: 'Replace all keys with one new key' },
    json,
  },
  settings: keySettings,
  details: `Clients with such a token must log in again.

Use --at-once if others may have the key that signs: the command then retires this key and activates a new one at the same time.
Use --all if others may have the database, or if the master key is lost.`,
  examples: [
    'espalier signing-key retire 019a1b2c-3d4e-7f50-8a6b-7c8d9e0f1a2b',
    'espalier signing-key retire --all',
  ],
  run({ words: [id], options, flags }) {
    if ((id === undefined) !== options.all) {
      throw new UsageError(
        "Specify either the id of a key or --all. To list the ids, run 'espalier signing-key list'.",
      );
    }
    return onKeys(flags, async (keys) => {
      const done = id === undefined ? await retireAll(keys) : await retireOne(keys, id, options.atOnce);
      return { data: done, text: describeRetirement(done, id, keys) };
    });
  },
});

async function retireOne(
  { database, encryption }: StoredKeys,
  id: string,
  isAtOnce: boolean,
): Promise<Retirement> {
  const { hasSigned, replacementId } = await runChange(database, async (transaction) => {
    const rows = await readKeyRows(transaction);
    if (isAtOnce) requireSameSeal(rows, encryption, { retiredId: id });
    return retireSigningKey(transaction, id, {
      encryption,
      now: systemClock.now(),
      isReplacedAtOnce: isAtOnce,
    });
  });
  return { retired: [id], hasSigned, replacement: replacementId ?? null };
}

/** Decrypts no key, so it works even if the master key is lost. */
async function retireAll({ database, encryption }: StoredKeys): Promise<Retirement> {
  return runChange(database, async (transaction) => {
    const rows = await readKeyRows(transaction);
    if (encryption.id === null && rows.some(({ sealedWith }) => sealedWith !== null)) {
      throw new StartError(
        'The keys are sealed, but no master key is set, so the new key would be stored unsealed. Set ESPALIER_MASTER_KEY_FILE to the old or a new master key.',
      );
    }
    const replacement = await retireAllKeys(transaction, { encryption, now: systemClock.now() });
    return { retired: rows.map(({ id }) => id), hasSigned: true, replacement };
  });
}

function describeRetirement(done: Retirement, id: string | undefined, { encryption }: StoredKeys): string {
  const { retired, hasSigned, replacement } = done;
  const all = retired.length === 1 ? 'The only key is' : `All ${retired.length} keys are`;
  const what = id === undefined ? all : `The key ${id} is`;
  const lines = hasSigned
    ? [
        `${what} retired. Within seconds, every node rejects auth tokens that were signed before.`,
        'Clients with such a token must log in again.',
      ]
    : [`${what} retired. No token was signed with it.`];
  if (replacement !== null) {
    lines.push(
      `The key ${replacement} signs instead. Other services that cache the public keys must read them again.`,
    );
  }
  if (id === undefined && encryption.id !== null) {
    lines.push(
      `The new key is sealed with the master key ${encryption.id}: servers now start only with this master key.`,
    );
  }
  return lines.join('\n');
}

const seal = command({
  about: 'Encrypt the signing keys with a master key',
  options: {
    oldMasterKeyFile: {
      value: 'path',
      about: 'The file with the old master key',
      completions: 'file',
    },
    json,
  },
  settings: keySettings,
  details: `Encrypts the keys, and the secrets of authenticator apps, with the master key in --master-key-file or ESPALIER_MASTER_KEY. If
they are already encrypted with another master key, pass its file with --old-master-key-file. Without a master key, stores them
unencrypted.`,
  examples: [
    'espalier signing-key seal --master-key-file key.txt',
    'espalier signing-key seal --master-key-file key.txt --old-master-key-file old-key.txt',
  ],
  run: ({ options, flags }) =>
    onKeys(flags, async ({ database, encryption, factorEncryption }) => {
      const { oldMasterKeyFile } = options;
      const oldKey = oldMasterKeyFile && readInputFile('--old-master-key-file', oldMasterKeyFile);
      const old = new KeyEncryption(oldKey);
      const oldFactors = createFactorEncryption(oldKey);
      const done = await runChange(database, async (transaction) => {
        const rows = (await readKeyRows(transaction)).filter(
          ({ sealedWith }) => sealedWith !== encryption.id,
        );
        requireOld(rows, old);
        await encryptKeys(transaction, rows, { from: old, to: encryption });
        const secrets = await reencryptTotpSecrets(transaction, { from: oldFactors, to: factorEncryption });
        return { changed: rows.length, secrets };
      });
      return {
        data: { ...done, sealedWith: encryption.id },
        text: describeSealing(done, encryption),
      };
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

interface Sealing {
  readonly changed: number;
  readonly secrets: { readonly encrypted: number; readonly unreadable: number };
}

function describeSealing({ changed, secrets }: Sealing, { id }: KeyEncryption): string {
  const describe = (verb: 'sealed' | 'encrypted') =>
    id === null ? 'stored without a master key' : `${verb} with the master key ${id}`;
  const how = describe('sealed');
  const texts = [changed === 0 ? `Nothing to do: every key is ${how}.` : describeSealedKeys(changed, how)];
  const countSecrets = (count: number) =>
    `${count} ${count === 1 ? 'secret' : 'secrets'} of authenticator apps ${count === 1 ? 'is' : 'are'}`;
  if (secrets.encrypted > 0) texts.push(`${countSecrets(secrets.encrypted)} ${describe('encrypted')}.`);
  if (secrets.unreadable > 0) {
    const whose = secrets.unreadable === 1 ? 'Its user' : 'Their users';
    texts.push(
      `${countSecrets(secrets.unreadable)} encrypted with another master key. ${whose} cannot log in with codes of the app. Pass the file of that key with --old-master-key-file.`,
    );
  }
  return texts.join('\n');
}

function describeSealedKeys(count: number, how: string): string {
  return `${count} ${count === 1 ? 'key is' : 'keys are'} ${how}. Restart every node with the same ESPALIER_MASTER_KEY before the next key is created.
Backups that you made before still contain the keys in their old form. If others may have such a backup, a rotation alone is not enough.
After the restart, do one of the following:
- Run 'espalier signing-key rotate'. When the new key signs, run 'espalier signing-key retire <id>' for each older key. Clients with a token
  of an older key must log in again.
- Without waiting, run 'espalier signing-key retire <id> --at-once'. All users must log in again.
To see the ids and the key that signs, run 'espalier signing-key list'.`;
}

export const signingKey: Group = { commands: { list, rotate, retire, seal }, groupDefault: 'list' };
