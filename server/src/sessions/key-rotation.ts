/** What time does to signing keys: after a while there is a new one, and one that nobody can need any more goes. */

import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { sql } from '../database/statement.ts';
import { runChange } from '../journal/journal.ts';
import { deleteKey, rotateSigningKey } from './change-keys.ts';
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
  readonly seal: KeyEncryption;
  readonly keys: SigningKeys;
  readonly settings: {
    /** 0 for never. */
    readonly keyRotationDays: number;
    readonly refreshTokenSeconds: number;
  };
}

const dayMs = 86_400_000;

const findLastNeed = sql<{ stoppedAt: number; now: number }, { until: number | null }>`
  select max(refresh_expires_at) as until from sessions
  where revoked_at is null and refresh_expires_at > ${'now'} and refreshed_at <= ${'stoppedAt'}`;

/** Costs nothing until there is something to do. */
export function createKeyRotation({
  database,
  clock,
  seal,
  keys,
  settings,
}: KeyRotationOptions): () => Promise<void> {
  const { keyRotationDays, refreshTokenSeconds } = settings;
  const isOld = ({ createdAt }: KeyTimes) =>
    keyRotationDays > 0 && clock.now() - createdAt >= keyRotationDays * dayMs;
  /** The sessions that need the oldest key, and until when, as they were found last. */
  let need = { keyId: '', until: 0 };

  async function rotateIfOld(): Promise<void> {
    const [newest] = keys.all;
    // Whoever cannot open a key has not the master key that the others have.
    if (!isOld(newest!) || !newest!.privateKey) return;
    await runChange(database, async (transaction) => {
      const [stored] = await readKeyRows(transaction);
      // Another node may have done it.
      if (stored && isOld(stored)) await rotateSigningKey(transaction, { seal, now: clock.now() });
    });
    await keys.reread();
  }

  async function forgetOldest(): Promise<void> {
    const [successor, oldest] = keys.all.slice(-2);
    if (!successor || !oldest) return;
    const now = clock.now();
    const stoppedAt = stopsSigningAt(successor);
    if (now <= verifiesUntil(successor, refreshTokenSeconds)) return;
    if (need.keyId === oldest.id && now <= need.until) return;
    // The setting may have been greater when they began.
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
    await forgetOldest();
  };
}

/** How long the key before this one is needed at least: for auth tokens, and for refreshing with expired ones. */
export function verifiesUntil(successor: KeyTimes, refreshTokenSeconds: number): number {
  return stopsSigningAt(successor) + Math.max(maxAuthTokenMs, refreshTokenSeconds * 1000);
}

export type KeyState = 'published' | 'signs' | 'verifies';

export interface KeyStatus {
  readonly id: string;
  readonly state: KeyState;
  readonly createdAt: number;
  readonly signsFrom: number;
  /** From then on nothing that it signed can be in use; null while it signs, and before. */
  readonly neededUntil: number | null;
  /** Names the master key; null if it is not sealed. */
  readonly sealedWith: string | null;
}

/** Of keys in their order, the newest first. */
export function listKeyStatuses(
  rows: readonly KeyRow[],
  { now, refreshTokenSeconds }: { readonly now: number; readonly refreshTokenSeconds: number },
): KeyStatus[] {
  const signing = signingAt(rows, now);
  return rows.map((row, place) => {
    const { id, createdAt, signsFrom, sealedWith } = row;
    const successor = rows[place - 1];
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
