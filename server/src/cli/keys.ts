/** `espalier keys`: lists, rotates, retires and seals the signing keys, in the database directly. */

import { systemClock } from '../clock.ts';
import { databaseOptionsOf, fileText, settingsOfProcess, settingsTable } from '../config.ts';
import type { Database } from '../database/database.ts';
import { openUpToDate } from '../database/open-database.ts';
import { changeInTurn } from '../journal/journal.ts';
import {
  retireAllKeys,
  retireSigningKey,
  rotateSigningKey,
  sealKeys,
  shownTime,
} from '../sessions/change-keys.ts';
import { createKeySeal, type KeySeal } from '../sessions/key-seal.ts';
import { readKeyRows, signingAt, type KeyRow } from '../sessions/signing-keys.ts';
import { verifiesUntil } from '../sessions/sweep-keys.ts';
import { StartError, UsageError } from '../start-error.ts';
import { command, json } from './command.ts';

interface Keys {
  readonly database: Database;
  readonly seal: KeySeal;
  readonly refreshTokenSeconds: number;
}

interface Asked {
  readonly given: readonly string[];
  readonly isJson: boolean;
  readonly isAtOnce: boolean;
  readonly isAll: boolean;
  readonly oldMasterKeyFile: string | undefined;
}

const actions: Readonly<Record<string, (keys: Keys, asked: Asked) => Promise<void>>> = {
  list,
  rotate,
  retire,
  seal: reseal,
};

const { databaseUrl, databasePoolMode, masterKey, refreshTokenSeconds } = settingsTable;
const oldMasterKeyFlag = '--old-master-key-file';
const tellsMore = 'espalier keys --help tells more.';

export const keys = command({
  words: [
    { name: 'action', about: 'list, rotate, retire or seal; list unless given', isOptional: true },
    { name: 'id', about: 'Which key to retire', isOptional: true },
  ],
  options: {
    json,
    atOnce: { about: 'Retire the key that signs, too, and put a new one in its place' },
    all: { about: 'Retire every key' },
    oldMasterKeyFile: {
      value: 'path',
      about: 'The master key that the keys are sealed with',
      completes: 'file',
    },
  },
  settings: [databaseUrl, databasePoolMode, masterKey, refreshTokenSeconds],
  details: `The keys that sign auth tokens. Works on the database directly, while servers run or not.

  list      Which keys there are. One signs; one that is published will; the others verify what they signed before
  rotate    Publishes a new key, which signs five minutes later. Nobody notices. Servers do it by themselves every
            ${settingsTable.keyRotationDays.default} days (ESPALIER_KEY_ROTATION_DAYS)
  retire    Takes a key away: what it signed is good no more, and whoever holds such a token must log in again.
            The key that signs is retired only with --at-once, which puts a new one in its place in the same moment:
            for a key that others may have. With --all every key is replaced by a new one: for a database that others
            may have, and for a master key that is lost
  seal      Seals the private keys in the database with ESPALIER_MASTER_KEY, or with another one than before: then the
            old one is in the file of --old-master-key-file. Without ESPALIER_MASTER_KEY they are stored unsealed`,
  async run({ words: [action = 'list', ...given], options, flags }) {
    const act = Object.hasOwn(actions, action) ? actions[action]! : undefined;
    if (!act) throw new UsageError(`espalier keys takes list, rotate, retire or seal. ${tellsMore}`);
    const asked: Asked = {
      given,
      isJson: options.json,
      isAtOnce: options.atOnce,
      isAll: options.all,
      oldMasterKeyFile: options.oldMasterKeyFile,
    };
    checkAsked(action, asked);
    await onDatabase(flags, (stored) => act(stored, asked));
  },
});

async function onDatabase(
  flags: Readonly<Record<string, string>>,
  work: (keys: Keys) => Promise<void>,
): Promise<void> {
  const { settings } = settingsOfProcess(flags);
  const database = await openUpToDate(settings.databaseUrl, databaseOptionsOf(settings));
  try {
    await work({
      database,
      seal: createKeySeal(settings.masterKey),
      refreshTokenSeconds: settings.refreshTokenSeconds,
    });
  } catch (error) {
    throw database.explain(error);
  } finally {
    await database.close();
  }
}

function checkAsked(action: string, { given, isAtOnce, isAll, isJson, oldMasterKeyFile }: Asked): void {
  if (action === 'retire' && (given.length === 0) !== isAll) {
    throw new UsageError(
      'espalier keys retire takes the id of a key, or --all. espalier keys list shows the ids.',
    );
  }
  const isWrong =
    (action !== 'retire' && (isAtOnce || isAll || given.length > 0)) ||
    (action !== 'list' && isJson) ||
    (action !== 'seal' && oldMasterKeyFile !== undefined);
  if (isWrong) throw new UsageError(`That does not fit espalier keys ${action}. ${tellsMore}`);
}

async function list(
  { database, refreshTokenSeconds: lifetimeSeconds }: Keys,
  { isJson }: Asked,
): Promise<void> {
  const now = systemClock.now();
  const rows = await readKeyRows(database);
  const signing = signingAt(rows, now);
  const shown = rows.map((row, place) => {
    const { id, createdAt, signsFrom, sealedWith } = row;
    const successor = rows[place - 1];
    const isOver = successor !== undefined && successor.signsFrom <= now;
    return {
      id,
      state: row === signing ? 'signs' : isOver ? 'verifies' : 'published',
      createdAt: shownTime(createdAt),
      signsFrom: shownTime(Math.max(signsFrom, createdAt)),
      neededUntil: isOver ? shownTime(verifiesUntil(successor, lifetimeSeconds)) : null,
      sealedWith,
    };
  });
  if (isJson) {
    console.log(JSON.stringify(shown, null, 2));
    return;
  }
  const line = (...cells: string[]) =>
    cells
      .map((cell, column) => cell.padEnd([36, 9, 20, 20, 12][column]!))
      .join('  ')
      .trimEnd();
  console.log(line('Key', 'State', 'Signs from', 'Needed until', 'Sealed with'));
  for (const { id, state, signsFrom, neededUntil, sealedWith } of shown) {
    console.log(line(id, state, signsFrom, neededUntil ?? '-', sealedWith ?? '-'));
  }
}

async function rotate({ database, seal }: Keys): Promise<void> {
  const { id, signsFrom } = await changeInTurn(database, async (transaction) => {
    const rows = await readKeyRows(transaction);
    requireSameSeal(rows, seal);
    return rotateSigningKey(transaction, { seal, now: systemClock.now() });
  });
  console.log(`The key ${id} is published and signs from ${shownTime(signsFrom)} on.
The keys before it go on verifying for as long as a session can need them. Nobody is logged out.`);
}

async function retire(keys: Keys, { given: [id], isAtOnce, isAll }: Asked): Promise<void> {
  const { database, seal } = keys;
  if (isAll) {
    await retireAll(keys);
    return;
  }
  const { hasSigned, replacementId } = await changeInTurn(database, async (transaction) => {
    const rows = await readKeyRows(transaction);
    if (isAtOnce) requireSameSeal(rows, seal, { retiredId: id! });
    return retireSigningKey(transaction, id!, { seal, now: systemClock.now(), isReplacedAtOnce: isAtOnce });
  });
  console.log(
    hasSigned ? voidTokens(`The key ${id} is`) : `The key ${id} is retired. It had signed nothing.`,
  );
  if (replacementId) console.log(inItsPlace(replacementId));
}

/** Nothing need be opened: also for a master key that is lost. */
async function retireAll({ database, seal }: Keys): Promise<void> {
  const { count, replacementId } = await changeInTurn(database, async (transaction) => {
    const rows = await readKeyRows(transaction);
    if (seal.id === null && rows.some(({ sealedWith }) => sealedWith !== null)) {
      throw new StartError(
        'The keys are sealed, and no master key is given: the new one would be stored unsealed. Give one, the old or a new one, by ESPALIER_MASTER_KEY_FILE.',
      );
    }
    return retireAllKeys(transaction, { seal, now: systemClock.now() });
  });
  console.log(voidTokens(count === 1 ? 'The only key is' : `All ${count} keys are`));
  console.log(inItsPlace(replacementId));
  if (seal.id)
    console.log(`It is sealed with the master key ${seal.id}: from now on nodes start only with that.`);
}

function voidTokens(what: string): string {
  return `${what} retired: auth tokens signed before are not accepted any more, within seconds on every node.
Whoever holds one must log in again.`;
}

function inItsPlace(id: string): string {
  return `The key ${id} signs instead. Other services that keep a copy of the public keys read it anew.`;
}

/** With the master key that is set now; what is sealed with the old one is opened with that. */
async function reseal({ database, seal }: Keys, { oldMasterKeyFile }: Asked): Promise<void> {
  const old = createKeySeal(oldMasterKeyFile && fileText(oldMasterKeyFlag, oldMasterKeyFile).text);
  const count = await changeInTurn(database, async (transaction) => {
    const rows = (await readKeyRows(transaction)).filter(({ sealedWith }) => sealedWith !== seal.id);
    requireOld(rows, old);
    await sealKeys(transaction, rows, { from: old, to: seal });
    return rows.length;
  });
  const how = seal.id === null ? 'stored without a master key' : `sealed with the master key ${seal.id}`;
  if (count === 0) {
    console.log(`Nothing to do: every key is ${how}.`);
    return;
  }
  console.log(`${count} ${count === 1 ? 'key is' : 'keys are'} ${how}. Restart every node with that before the next key is made.
Backups of before hold the keys as they were: then run espalier keys rotate.`);
}

function requireOld(rows: readonly KeyRow[], old: KeySeal): void {
  const other = rows.find(({ sealedWith }) => sealedWith !== null && sealedWith !== old.id);
  if (!other) return;
  throw new StartError(
    old.id === null
      ? `The keys are sealed with another master key (${other.sealedWith}). Give it by --old-master-key-file.`
      : `The file of --old-master-key-file holds the master key ${old.id}, and the keys are sealed with ${other.sealedWith}.`,
  );
}

/** A node with another master key, or none, could not sign with what this command stores. */
function requireSameSeal(
  rows: readonly KeyRow[],
  seal: KeySeal,
  { retiredId }: { readonly retiredId?: string } = {},
): void {
  // One that goes need not be whole, but tells which master key is in use.
  for (const row of rows) if (row.id !== retiredId || row.sealedWith !== seal.id) seal.open(row);
  if (seal.id !== null && rows.some(({ sealedWith }) => sealedWith === null)) {
    throw new StartError(
      'The keys in the database are not sealed, and a master key is given. Start the nodes with it first, or run espalier keys seal.',
    );
  }
}
