/** Checks everything that a node needs. `/readyz` uses only some of these checks to decide whether the node can serve requests. */

import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Database, Reader } from '../database/database.ts';
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
  /** The free space of the disk, if known. */
  readonly freeBytes?: number;
}

interface HealthSubjects {
  readonly database: Pick<Database, 'receivesNotifications' | 'findFault' | 'writeFailure'> & Reader;
  /** The file of an embedded database. */
  readonly databaseFile: string | undefined;
  readonly keys: SigningKeys;
  /** Whether the database responds and, if embedded, its file exists. */
  readonly isReady: () => Promise<boolean>;
  /** The state of scheduled backups; undefined if there are none. */
  readonly backupState?: (() => Promise<CheckResult>) | undefined;
}

type CheckResult = Omit<HealthCheck, 'name'>;

const noResponse = 'The database does not respond.';
const unreadableSchema: CheckResult = { isOk: false, detail: 'The schema cannot be read.' };
/** Enough for an operator to react before the disk is full. */
const minFreeBytes = 128 * 2 ** 20;

export async function checkHealth(subjects: HealthSubjects): Promise<HealthCheck[]> {
  const { database, databaseFile, keys, isReady, backupState } = subjects;
  const isUp = await isReady();
  const fault = isUp ? undefined : database.findFault();
  // A database that does not respond is not queried again.
  const canQuery = isUp || fault !== undefined;
  const writeFailure = database.writeFailure() ?? fault ?? (isUp ? undefined : { detail: noResponse });
  return [
    { name: 'database', isOk: isUp, ...(fault ?? { detail: isUp ? 'The database responds.' : noResponse }) },
    { name: 'migrations', ...(canQuery ? await checkMigrations(database) : unreadableSchema) },
    { name: 'writes', ...checkWrites(writeFailure) },
    { name: 'signing key', ...checkSigning(keys) },
    { name: 'notifications', ...checkNotifications(database) },
    { name: 'disk', ...(await checkDisk(databaseFile)) },
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

function checkWrites(failure: Pick<HealthCheck, 'detail' | 'summary'> | undefined): CheckResult {
  const { detail = 'Changes are written.', summary } = failure ?? {};
  return { isOk: !failure, detail, ...(summary && { summary }) };
}

async function checkMigrations(reader: Reader): Promise<CheckResult> {
  try {
    const version = await readSchemaVersion(reader);
    if (version === migrations.length)
      return { isOk: true, detail: `The schema is up to date (${version} migrations).` };
    const detail = `The database has ${version} migrations, and this program has ${migrations.length}: another version of the program has changed the schema. Start the newer program.`;
    return { isOk: false, detail };
  } catch {
    return unreadableSchema;
  }
}

function checkSigning(keys: SigningKeys): CheckResult {
  if (!canSign(keys)) {
    const detail =
      'This node cannot decrypt the key that signs auth tokens. Set the same ESPALIER_MASTER_KEY on all nodes.';
    return { isOk: false, detail };
  }
  if (!keys.isKeyListCurrent) {
    const detail = 'The signing keys could not be read recently. This node may not have the newest key.';
    return { isOk: false, detail };
  }
  const count = keys.all.length;
  const detail =
    count === 1
      ? 'One key signs and verifies auth tokens.'
      : `One key signs auth tokens, and ${count} keys verify them.`;
  return { isOk: true, detail };
}

function checkNotifications({ receivesNotifications }: Pick<Database, 'receivesNotifications'>): CheckResult {
  const detail = receivesNotifications
    ? 'Changes of other processes arrive immediately.'
    : 'Notifications about changes of other processes do not arrive. The node reads the changes every second instead.';
  return { isOk: receivesNotifications, detail };
}

async function checkDisk(databaseFile: string | undefined): Promise<CheckResult> {
  if (databaseFile === undefined) return { isOk: true, detail: 'This node has no database file.' };
  try {
    const { bavail, bsize } = await statfs(dirname(databaseFile));
    const freeBytes = bavail * bsize;
    const isOk = freeBytes >= minFreeBytes;
    const detail = isOk
      ? 'The disk of the database has enough free space.'
      : `The disk of the database has only ${Math.floor(freeBytes / 1e6)} MB of free space. Free some space, otherwise changes will fail soon.`;
    return { isOk, detail, freeBytes };
  } catch {
    return { isOk: false, detail: 'The free space on the disk of the database cannot be read.' };
  }
}
