/**
 * Some changes give lasting access. They need an active session, because an auth token stays valid for some minutes after a logout. Changes
 * that a stolen session alone must not make also need a recent sign-in.
 */

import type { Reader } from '../database/database.ts';
import { Refusal } from '../refusal.ts';
import { readActiveSession, type Session } from './session-reads.ts';

interface SessionAt {
  readonly sessionId: string;
  readonly now: number;
}

const maxAgeMs = 10 * 60_000;

/** Refuses a session that was logged out, was revoked or has expired. */
export async function requireActiveSession(reader: Reader, { sessionId, now }: SessionAt): Promise<Session> {
  const session = await readActiveSession(reader, sessionId, now);
  if (session) return session;
  throw new Refusal('FORBIDDEN', 'Your session has ended. Sign in again, and repeat this.');
}

export async function requireRecentSignIn(reader: Reader, { sessionId, now }: SessionAt): Promise<void> {
  const { createdAt } = await requireActiveSession(reader, { sessionId, now });
  if (now - createdAt <= maxAgeMs) return;
  throw new Refusal(
    'FORBIDDEN',
    'Your sign-in is more than ten minutes old. Sign out, sign in again, and repeat this.',
  );
}
