/** `espalier keys retire`: retires one or all signing keys, which invalidates the tokens that they signed. */

import { systemClock } from '../../clock.ts';
import { runChange } from '../../journal/journal.ts';
import { retireAllKeys, retireSigningKey } from '../../sessions/manage-signing-keys.ts';
import { readKeyRows } from '../../sessions/signing-keys.ts';
import { StartError, UsageError } from '../../config/start-error.ts';
import { command, json } from '../command.ts';
import { print, printJson } from '../output.ts';
import { keySettings, onKeys, requireSameSeal, type StoredKeys } from './stored-keys.ts';

interface Retirement {
  readonly retired: readonly string[];
  /** False if no token was signed with it. */
  readonly hasSigned: boolean;
  /** The key that signs instead. */
  readonly replacement: string | null;
}

export const retireKey = command({
  words: [{ name: 'id', about: 'Which key; espalier keys list shows the ids', isOptional: true }],
  options: {
    atOnce: { about: 'Retire the key that signs, too, and put a new one in its place' },
    all: { about: 'Retire every key' },
    json,
  },
  settings: keySettings,
  details: `What the key signed is good no more, and whoever holds such a token must log in again.

The key that signs is retired only with --at-once, which puts a new one in its place in the same moment: for a key that
others may have. With --all every key is replaced by a new one: for a database that others may have, and for a master
key that is lost.`,
  async run({ words: [id], options, flags }) {
    if ((id === undefined) !== options.all) {
      throw new UsageError(
        'espalier keys retire takes the id of a key, or --all. espalier keys list shows the ids.',
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

/** Nothing need be opened: also for a master key that is lost. */
async function retireAll({ database, encryption }: StoredKeys): Promise<Retirement> {
  return runChange(database, async (transaction) => {
    const rows = await readKeyRows(transaction);
    if (encryption.id === null && rows.some(({ sealedWith }) => sealedWith !== null)) {
      throw new StartError(
        'The keys are sealed, and no master key is given: the new one would be stored unsealed. Give one, the old or a new one, by ESPALIER_MASTER_KEY_FILE.',
      );
    }
    const { replacementId } = await retireAllKeys(transaction, { encryption, now: systemClock.now() });
    return { retired: rows.map(({ id }) => id), hasSigned: true, replacement: replacementId };
  });
}

function describeResult(done: Retirement, id: string | undefined, { encryption }: StoredKeys): string {
  const { retired, hasSigned, replacement } = done;
  const all = retired.length === 1 ? 'The only key is' : `All ${retired.length} keys are`;
  const what = id === undefined ? all : `The key ${id} is`;
  const lines = hasSigned
    ? [
        `${what} retired: auth tokens signed before are not accepted any more, within seconds on every node.`,
        'Whoever holds one must log in again.',
      ]
    : [`${what} retired. It had signed nothing.`];
  if (replacement !== null) {
    lines.push(
      `The key ${replacement} signs instead. Other services that keep a copy of the public keys read it anew.`,
    );
  }
  if (id === undefined && encryption.id !== null) {
    lines.push(`It is sealed with the master key ${encryption.id}: from now on nodes start only with that.`);
  }
  return lines.join('\n');
}
