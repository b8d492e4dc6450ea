/** Rotates signing keys by age, deletes keys that no session needs, and lists their states. */

import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { runChange } from '../journal/journal.ts';
import { deleteKey, rotateSigningKey } from './manage-signing-keys.ts';
import type { KeyEncryption } from './key-encryption.ts';
import { maxAuthTokenMs } from './revocation.ts';
import {
  readKeyRows,
  signingAt,
  stopsSigningAt,
  type KeyRow,
  type KeyTimes,
  type SigningKeys,
} from './signing-keys.ts';

export interface KeyRotationOptions {
  readonly database: Database;
  readonly clock: Clock;
  readonly encryption: KeyEncryption;
  readonly keys: SigningKeys;
  readonly settings: {
    /** 0 disables rotation. */
    readonly keyRotationDays: number;
    readonly refreshTokenSeconds: number;
  };
}

const dayMs = 86_400_000;

const findLastNeed = sql<{ stoppedAt: number; now: number }, { until: number | null }>`
  select max(refresh_expires_at) as until from sessions
  where revoked_at is null and refresh_expires_at > ${'now'} and refreshed_at <= ${'stoppedAt'}`;

/** Returns the periodic task. It reads the database only if a key is due. */
export function createKeyRotation({
  database,
  clock,
  encryption,
  keys,
  settings,
}: KeyRotationOptions): () => Promise<void> {
  const { keyRotationDays, refreshTokenSeconds } = settings;
  const isOld = ({ createdAt }: KeyTimes) =>
    keyRotationDays > 0 && clock.now() - createdAt >= keyRotationDays * dayMs;
  /** How long sessions need the oldest key, as of the last read. */
  let need = { keyId: '', until: 0 };

  async function rotateIfOld(): Promise<void> {
    const [newest] = keys.all;
    // A node that cannot decrypt the key has another master key than the other nodes.
    if (!isOld(newest!) || !newest!.privateKey) return;
    await runChange(database, async (transaction) => {
      const [stored] = await readKeyRows(transaction);
      // Another node may have rotated it.
      if (stored && isOld(stored)) await rotateSigningKey(transaction, { encryption, now: clock.now() });
    });
    await keys.reread();
  }

  async function deleteOldest(): Promise<void> {
    const [successor, oldest] = keys.all.slice(-2);
    if (!successor || !oldest) return;
    const now = clock.now();
    const stoppedAt = stopsSigningAt(successor);
    if (now <= verifiesUntil(successor, refreshTokenSeconds)) return;
    if (need.keyId === oldest.id && now <= need.until) return;
    // The setting may have been larger when those sessions began.
    const { until } = (await database.get(findLastNeed, { stoppedAt, now }))!;
    need = { keyId: oldest.id, until: until ?? 0 };
    if (until !== null) return;
    await runChange(database, async (transaction) => {
      const rows = await readKeyRows(transaction);
      if (rows.some(({ id }) => id === oldest.id)) await deleteKey(transaction, oldest.id, now);
    });
    await keys.reread();
  }

  return async () => {
    await rotateIfOld();
    await deleteOldest();
  };
}

/** How long the previous key is needed: to verify auth tokens, and to refresh with expired ones. */
export function verifiesUntil(successor: KeyTimes, refreshTokenSeconds: number): number {
  return stopsSigningAt(successor) + Math.max(maxAuthTokenMs, refreshTokenSeconds * 1000);
}

export type KeyState = 'published' | 'signs' | 'verifies';

export interface KeyStatus {
  readonly id: string;
  readonly state: KeyState;
  readonly createdAt: number;
  readonly signsFrom: number;
  /** After this time no token that it signed is in use. Null until it stops signing. */
  readonly neededUntil: number | null;
  /** The id of the master key, or null if the key is not encrypted. */
  readonly sealedWith: string | null;
}

/** Takes and returns the keys with the newest first. */
export function listKeyStatuses(
  rows: readonly KeyRow[],
  { now, refreshTokenSeconds }: { readonly now: number; readonly refreshTokenSeconds: number },
): KeyStatus[] {
  const signing = signingAt(rows, now);
  return rows.map((row, index) => {
    const { id, createdAt, signsFrom, sealedWith } = row;
    const successor = rows[index - 1];
    const isOver = successor !== undefined && successor.signsFrom <= now;
    return {
      id,
      state: row === signing ? 'signs' : isOver ? 'verifies' : 'published',
      createdAt,
      signsFrom: Math.max(signsFrom, createdAt),
      neededUntil: isOver ? verifiesUntil(successor, refreshTokenSeconds) : null,
      sealedWith,
    };
  });
}
