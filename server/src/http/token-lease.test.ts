import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Sessions } from '../sessions/sessions.ts';
import { TokenLease } from './token-lease.ts';

const session = { userId: 'ann', sessionId: 'session', tokenExpiresAt: 1_000 };
const apiKey = { userId: 'ann', sessionId: undefined, apiKeyId: 'key', tokenExpiresAt: 1_000 };

test('names the credential and the reason for its end', () => {
  const sessions: Partial<Sessions> = { isEnded: () => true, isViewEnded: () => false };
  for (const [viewer, now, reason] of [
    [session, 1_000, 'The auth token has expired.'],
    [session, 999, 'The session of this auth token has ended.'],
    [apiKey, 1_000, 'This API key has expired. Create another one.'],
    [apiKey, 999, 'This API key was revoked, or its user is disabled or deleted.'],
  ] as const) {
    const services = { sessions: sessions as Sessions, clock: { now: () => now } };
    const { code, message } = new TokenLease(viewer, services).refusal;
    assert.deepEqual([code, message], ['INVALID_AUTH_TOKEN', reason]);
  }
});
