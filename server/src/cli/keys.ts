/** `espalier keys`: lists, rotates, retires and seals the signing keys, in the database directly. */

import { readFileSync } from 'node:fs';
import { systemClock } from '../clock.ts';
import { databaseOptionsOf, settingsOfProcess, settingsTable } from '../config.ts';
import type { Database } from '../database/database.ts';
import { openUpToDate } from '../database/open-database.ts';
import { changeInTurn } from '../journal/journal.ts';
import { retireSigningKey, rotateSigningKey, sealKeys, shownTime } from '../sessions/change-keys.ts';
import { createKeySeal, type KeySeal } from '../sessions/key-seal.ts';
import { readKeyRows, signingAt, type KeyRow } from '../sessions/signing-keys.ts';
import { verifiesUntil } from '../sessions/sweep-keys.ts';
import type { Setting } from '../settings/setting.ts';
import { StartError, UsageError } from '../start-error.ts';
import { describeFlags, parseFlags } from './flags.ts';

interface Keys {
  readonly database: Database;
  readonly seal: KeySeal;
  readonly refreshTokenSeconds: number;
}

interface Asked {
  readonly given: readonly string[];
  readonly isJson: boolean;
  readonly isAtOnce: boolean;
  readonly oldMasterKeyFile: string | undefined;
}

const actions: Readonly<Record<string, (keys: Keys, asked: Asked) => Promise<void>>> = {
  list,
  rotate,
  retire,
  seal: reseal,
};

const { databaseUrl, databasePoolMode, masterKey, refreshTokenSeconds } = settingsTable;
const taken: readonly Setting<unknown>[] = [databaseUrl, databasePoolMode, masterKey, refreshTokenSeconds];
const tellsMore = 'espalier keys --help tells more.';

export async function keys([action = 'list', ...args]: string[]): Promise<void> {
  const act = Object.hasOwn(actions, action) ? actions[action]! : undefined;
  if (!act) throw new UsageError(`espalier keys takes list, rotate, retire or seal. ${tellsMore}`);
  const { asked, flags } = parse(action, args);
  const { settings } = settingsOfProcess(flags);
  const database = await openUpToDate(settings.databaseUrl, databaseOptionsOf(settings));
  try {
    await act(
      {
        database,
        seal: createKeySeal(settings.masterKey),
        refreshTokenSeconds: settings.refreshTokenSeconds,
      },
      asked,
    );
  } catch (error) {
    throw database.explain(error);
  } finally {
    await database.close();
  }
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

async function retire({ database, seal }: Keys, { given: [id], isAtOnce }: Asked): Promise<void> {
  const { replacementId } = await changeInTurn(database, async (transaction) => {
    const others = (await readKeyRows(transaction)).filter((row) => row.id !== id);
    if (isAtOnce) requireSameSeal(others, seal);
    return retireSigningKey(transaction, id!, { seal, now: systemClock.now(), isReplacedAtOnce: isAtOnce });
  });
  console.log(`The key ${id} is retired: auth tokens that it signed are not accepted any more, within seconds on every node.
Whoever holds one must log in again.`);
  if (replacementId) {
    console.log(
      `The key ${replacementId} signs in its place. Other services that keep a copy of the public keys read it anew.`,
    );
  }
}

/** With the master key that is set now; what is sealed with the old one is opened with that. */
async function reseal({ database, seal }: Keys, { oldMasterKeyFile }: Asked): Promise<void> {
  const old = createKeySeal(oldMasterKeyFile === undefined ? undefined : readOldKey(oldMasterKeyFile));
  const count = await changeInTurn(database, async (transaction) => {
    const rows = (await readKeyRows(transaction)).filter(({ sealedWith }) => sealedWith !== seal.id);
    await sealKeys(transaction, rows, { from: old, to: seal });
    return rows.length;
  });
  const how = seal.id === null ? 'stored without a master key' : `sealed with the master key ${seal.id}`;
  if (count === 0) {
    console.log(`Nothing to do: every key is ${how}.`);
    return;
  }
  console.log(`${count} ${count === 1 ? 'key is' : 'keys are'} ${how}. From now on nodes start only with that.
Backups of before hold the keys as they were: espalier keys rotate makes a new one.`);
}

/** A node with another master key, or none, could not read what this command stores. */
function requireSameSeal(rows: readonly KeyRow[], seal: KeySeal): void {
  rows.forEach((row) => seal.open(row));
  if (seal.id !== null && rows.some(({ sealedWith }) => sealedWith === null)) {
    throw new StartError(
      'The keys in the database are not sealed, and ESPALIER_MASTER_KEY is set. Start the nodes with it first, or run espalier keys seal.',
    );
  }
}

function readOldKey(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (cause) {
    throw new StartError(`The file ${path} cannot be read: ${(cause as Error).message}.`, { cause });
  }
}

function parse(action: string, args: string[]): { asked: Asked; flags: Record<string, string> } {
  const rest = [...args];
  const take = (flag: string) => rest.includes(flag) && rest.splice(rest.indexOf(flag), 1).length > 0;
  const isJson = action === 'list' && take('--json');
  const isAtOnce = action === 'retire' && take('--at-once');
  const oldFlag = '--old-master-key-file';
  const at = action === 'seal' ? rest.indexOf(oldFlag) : -1;
  const [, oldMasterKeyFile] = at < 0 ? [] : rest.splice(at, 2);
  if (at >= 0 && oldMasterKeyFile === undefined) throw new UsageError(`${oldFlag} needs a value.`);
  const given = action === 'retire' && rest[0] && !rest[0].startsWith('-') ? rest.splice(0, 1) : [];
  if (action === 'retire' && given.length === 0) {
    throw new UsageError(`espalier keys retire takes the id of a key; espalier keys list shows them.`);
  }
  const flags = parseFlags(rest, { settings: taken, command: 'keys' });
  return { asked: { given, isJson, isAtOnce, oldMasterKeyFile }, flags };
}

export function keysHelp(): string {
  return `Usage: espalier keys [list] [--json]
       espalier keys rotate
       espalier keys retire <id> [--at-once]
       espalier keys seal [--old-master-key-file <path>]

The keys that sign auth tokens. Works on the database directly, while servers run or not.

  list      Which keys there are. One signs; one that is published will; the others verify what they signed before
  rotate    Publishes a new key, which signs five minutes later. Nobody notices. Servers do it by themselves every
            ${settingsTable.keyRotationDays.default} days (ESPALIER_KEY_ROTATION_DAYS)
  retire    Takes a key away: what it signed is good no more, and whoever holds such a token must log in again.
            The key that signs is retired only with --at-once, which puts a new one in its place in the same moment:
            for a key that others may have
  seal      Seals the private keys in the database with ESPALIER_MASTER_KEY, or with another one than before: then the
            old one is in the file of --old-master-key-file. Without ESPALIER_MASTER_KEY they are stored unsealed

${describeFlags(taken)}`;
}
