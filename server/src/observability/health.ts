/** Checks everything that a node needs. Only some of the checks decide whether it can serve requests, see `/readyz`. */

import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Database, DatabaseFault, Reader } from '../database/database.ts';
import { migrations, readSchemaVersion } from '../database/migrations.ts';
import { Refusal } from '../refusal.ts';
import type { SigningKeys } from '../sessions/signing-keys.ts';

export interface HealthCheck {
  readonly name: string;
  readonly isOk: boolean;
  /** A sentence for operators. */
  readonly detail: string;
  /** Why the check fails, without names or paths, because anyone can read `/readyz`. */
  readonly summary?: string;
  /** Of the disk, if known. */
  readonly freeBytes?: number;
}

export interface HealthSubjects {
  readonly database: Pick<Database, 'receivesNotifications' | 'findFault' | 'writeFailure'> & Reader;
  /** Of an embedded database. */
  readonly databaseFile: string | undefined;
  readonly keys: SigningKeys;
  /** Whether the database responds and, if embedded, its file exists. */
  readonly isReady: () => Promise<boolean>;
  /** The state of scheduled backups; undefined if there are none. */
  readonly backupState?: (() => Promise<{ readonly isOk: boolean; readonly detail: string }>) | undefined;
}

const noResponse = 'The database does not answer.';
const unreadableSchema = 'The schema cannot be read.';
/** Enough for an operator to react before the disk is full. */
const minFreeBytes = 128 * 2 ** 20;

export async function checkHealth({
  database,
  databaseFile,
  keys,
  isReady,
  backupState,
}: HealthSubjects): Promise<HealthCheck[]> {
  const isUp = await isReady();
  const fault = isUp ? undefined : database.findFault();
  return [
    checkDatabase(isUp, fault),
    // A database that does not respond is not queried again.
    isUp || fault !== undefined
      ? await checkMigrations(database)
      : { name: 'migrations', isOk: false, detail: unreadableSchema },
    checkWrites(database.writeFailure() ?? fault ?? (isUp ? undefined : { detail: noResponse })),
    checkSigning(keys),
    checkBus(database),
    await checkDisk(databaseFile),
    ...(backupState ? [{ name: 'backup', ...(await backupState()) }] : []),
  ];
}

/** Whether this node can sign auth tokens. */
export function canSign(keys: SigningKeys): boolean {
  try {
    return keys.current.privateKey !== undefined;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

function checkDatabase(isOk: boolean, fault: DatabaseFault | undefined): HealthCheck {
  const name = 'database';
  if (fault) return { name, isOk, ...fault };
  return { name, isOk, detail: isOk ? 'The database answers.' : noResponse };
}

function checkWrites(failure: Pick<HealthCheck, 'detail' | 'summary'> | undefined): HealthCheck {
  const name = 'writes';
  return failure
    ? { name, isOk: false, detail: failure.detail, ...(failure.summary && { summary: failure.summary }) }
    : { name, isOk: true, detail: 'Changes are written.' };
}

async function checkMigrations(reader: Reader): Promise<HealthCheck> {
  const name = 'migrations';
  const expected = migrations.length;
  try {
    const version = await readSchemaVersion(reader);
    if (version === expected) {
      return { name, isOk: true, detail: `The schema is up to date (${version} steps).` };
    }
    const detail = `The schema has taken ${version} steps, and this program knows ${expected}: another version has changed it. Start the newer program.`;
    return { name, isOk: false, detail };
  } catch {
    return { name, isOk: false, detail: unreadableSchema };
  }
}

function checkSigning(keys: SigningKeys): HealthCheck {
  const name = 'signing key';
  if (!canSign(keys)) {
    const detail =
      'This node cannot open the key that signs auth tokens: it has another master key than the others.';
    return { name, isOk: false, detail };
  }
  if (!keys.isKeyListCurrent) {
    const detail = 'The signing keys could not be read for a while: some may be unknown here.';
    return { name, isOk: false, detail };
  }
  const count = keys.all.length;
  return { name, isOk: true, detail: `A key signs, and ${count === 1 ? 'it verifies' : `${count} verify`}.` };
}

function checkBus({ receivesNotifications }: Pick<Database, 'receivesNotifications'>): HealthCheck {
  const detail = receivesNotifications
    ? 'What other processes change is heard of.'
    : 'What other processes change is not heard of, and found by looking every second.';
  return { name: 'bus', isOk: receivesNotifications, detail };
}

async function checkDisk(databaseFile: string | undefined): Promise<HealthCheck> {
  const name = 'disk';
  if (databaseFile === undefined) {
    return { name, isOk: true, detail: 'Nothing is kept on this machine.' };
  }
  try {
    const { bavail, bsize } = await statfs(dirname(databaseFile));
    const freeBytes = bavail * bsize;
    const isOk = freeBytes >= minFreeBytes;
    const megabytes = Math.floor(freeBytes / 1e6);
    const detail = isOk
      ? 'There is room where the database is.'
      : `Only ${megabytes} MB are free where the database is: make room, or nothing can be changed soon.`;
    return { name, isOk, detail, freeBytes };
  } catch {
    return { name, isOk: false, detail: 'The folder of the database cannot be looked at.' };
  }
}
