/** Some changes need a recent sign-in, because a stolen session alone must not make them. */

import type { Reader } from '../database/database.ts';
import { Refusal } from '../refusal.ts';
import { readSession } from './session-reads.ts';

const maxAgeMs = 10 * 60_000;

export async function requireRecentSignIn(
  reader: Reader,
  { sessionId, now }: { readonly sessionId: string; readonly now: number },
): Promise<void> {
  const session = await readSession(reader, sessionId);
  if (session && now - session.createdAt <= maxAgeMs) return;
  throw new Refusal(
    'FORBIDDEN',
    'Your sign-in is more than ten minutes old. Sign out, sign in again, and repeat this.',
  );
}
