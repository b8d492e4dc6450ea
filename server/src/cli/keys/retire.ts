/** `espalier keys retire`: retires one or all signing keys, which invalidates the tokens that they signed. */

import { systemClock } from '../../clock.ts';
import { runChange } from '../../journal/journal.ts';
import { retireAllKeys, retireSigningKey } from '../../sessions/manage-signing-keys.ts';
import { readKeyRows } from '../../sessions/signing-keys.ts';
import { StartError, UsageError } from '../../config/start-error.ts';
import { command, json } from '../command.ts';
import { print, printJson } from '../terminal/output.ts';
import { keySettings, onKeys, requireSameSeal, type StoredKeys } from './stored-keys.ts';

interface Retirement {
  readonly retired: readonly string[];
  /** False if no token was signed with it. */
  readonly hasSigned: boolean;
  /** The key that signs instead. */
  readonly replacement: string | null;
}

export const retireKey = command({
  words: [{ name: 'id', about: 'The id of the key, from espalier keys list', isOptional: true }],
  options: {
    atOnce: { about: 'Retire the key even if it is the one that signs, and replace it with a new key' },
    all: { about: 'Replace all keys with one new key' },
    json,
  },
  settings: keySettings,
  details: `Invalidates all tokens that the key signed. Clients with such a token must log in again.

Use --at-once if others may have the key that signs: it retires the key and activates a new one at the same time. Use --all if
others may have the database, or if the master key is lost.`,
  async run({ words: [id], options, flags }) {
    if ((id === undefined) !== options.all) {
      throw new UsageError(
        'espalier keys retire takes either the id of a key or --all. Run espalier keys list for the ids.',
      );
    }
    await onKeys(flags, async (keys) => {
      const done = id === undefined ? await retireAll(keys) : await retireOne(keys, id, options.atOnce);
      await (options.json ? printJson(done) : print(describeResult(done, id, keys)));
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

/** Opens no key, so it also works without a lost master key. */
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

function describeResult(done: Retirement, id: string | undefined, { encryption }: StoredKeys): string {
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
      `It is sealed with the master key ${encryption.id}: nodes now start only with this master key.`,
    );
  }
  return lines.join('\n');
}
