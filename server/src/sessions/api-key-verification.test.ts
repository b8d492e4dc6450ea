/** The load that many keys, many requests and false keys cause. `tests/api-keys` tests the checks themselves. */

import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import type { Database } from '../database/database.ts';
import type { JournalEntry } from '../journal/journal-entry.ts';
import type { JournalFeed } from '../journal/journal-feed.ts';
import { Refusal } from '../refusal.ts';
import { createApiKeyText, type ApiKeyText } from './api-key-text.ts';
import { ApiKeyVerification } from './api-key-verification.ts';
import type { RevocationCache } from './revocation.ts';
import type { SignInAttempt } from './sign-in-buffer.ts';

/** More keys than the server caches. */
const manyKeys = 10_500;

/** A database with rows of API keys only. It records what the verification reads and writes. */
class KeyDatabase {
  readonly isEmbedded: boolean;
  readonly #rows = new Map<string, object>();
  /** The identifiers that were read, in order. */
  readonly reads: string[] = [];
  /** The ids of the keys of each transaction. */
  transactions: string[][] = [];

  constructor({ isEmbedded = true }: { isEmbedded?: boolean } = {}) {
    this.isEmbedded = isEmbedded;
  }

  createKey(id: string): string {
    const { text, identifier, secretDigest } = createApiKeyText();
    const key: ApiKeyText & object = {
      ...{ id, userId: 'user', name: 'program', identifier, secretDigest, level: 1, isAdministrator: 0 },
      ...{ folderId: null, networks: null, createdAt: 0, createdBy: null, expiresAt: null, revokedAt: null },
      ...{ lastUsedAt: null, lastUsedAddress: null, userDisabledAt: null },
    };
    this.#rows.set(identifier, key);
    return text;
  }

  get(_: unknown, { identifier }: { identifier: string }): unknown {
    this.reads.push(identifier);
    const row = this.#rows.get(identifier);
    return this.isEmbedded ? row : Promise.resolve(row);
  }

  async transaction(work: (transaction: object) => Promise<void>): Promise<void> {
    const ids: string[] = [];
    this.transactions.push(ids);
    await work({
      runEach: (_: unknown, uses: readonly { id: string }[]) => void ids.push(...uses.map(({ id }) => id)),
    });
  }
}

describe('the verification of API keys', () => {
  let database: KeyDatabase;
  let recorded: SignInAttempt[];
  let publish: (entry: JournalEntry) => void;
  let now: number;
  beforeEach(() => {
    recorded = [];
    now = Date.parse('2026-03-01T12:00:00Z');
  });

  const start = (options?: { isEmbedded: boolean }) => {
    database = new KeyDatabase(options);
    // Only these methods are called.
    return new ApiKeyVerification({
      database: database as unknown as Database,
      clock: { now: () => now },
      feed: {
        onEntry: (listener: typeof publish) => void (publish = listener),
        onGap: () => undefined,
      } as unknown as JournalFeed,
      revoked: { has: () => false } as unknown as RevocationCache,
      signIns: { record: (attempt) => void recorded.push(attempt) },
    });
  };
  const revoke = (apiKeyId: string) =>
    publish({ kind: 'REVOKE_API_KEY', before: JSON.stringify({ apiKeyId }) } as JournalEntry);
  const createKeys = (count: number) =>
    Array.from({ length: count }, (_, index) => database.createKey(String(count - index).padStart(6, '0')));

  test('stores the last use of each key at most once a minute, however many keys there are', async () => {
    const keys = start();
    const texts = createKeys(manyKeys);
    const useAll = async () => {
      for (const text of texts) await keys.authenticate(text, '192.0.2.1');
      database.transactions = [];
      await keys.storeUses();
      return database.transactions.flat();
    };
    assert.equal((await useAll()).length, manyKeys);
    now += 59_999;
    assert.equal((await useAll()).length, 0);
    now += 1;
    assert.equal((await useAll()).length, manyKeys);
  });

  test('stores last uses in small transactions and in the order of the ids, so that nodes cannot deadlock', async () => {
    const keys = start();
    for (const text of createKeys(1_200)) await keys.authenticate(text, null);
    await keys.storeUses();
    const stored = database.transactions.flat();
    assert.deepEqual(stored, stored.toSorted());
    assert.equal(stored.length, 1_200);
    assert.ok(database.transactions.every(({ length }) => length <= 100));
  });

  test('reads a key once for many requests that arrive before it is cached', async () => {
    const keys = start({ isEmbedded: false });
    const text = database.createKey('1');
    await Promise.all(Array.from({ length: 2_000 }, async () => keys.authenticate(text, null)));
    assert.equal(database.reads.length, 1);
    await keys.authenticate(text, null);
    assert.equal(database.reads.length, 1);
  });

  test('does not cache a key that was read before its revocation, for no request', async () => {
    const keys = start({ isEmbedded: false });
    const text = database.createKey('1');
    const early = keys.authenticate(text, null);
    revoke('1');
    await Promise.all([early, keys.authenticate(text, null)]);
    assert.equal(database.reads.length, 2);
    revoke('1');
    await keys.authenticate(text, null);
    assert.equal(database.reads.length, 3);
  });

  test('refuses false keys while too many keys wait for a read, and records none', async () => {
    const keys = start({ isEmbedded: false });
    const attempts = Array.from({ length: 1_000 }, async () => {
      try {
        await keys.authenticate(createApiKeyText().text, null);
        return 'accepted';
      } catch (error) {
        return error instanceof Refusal && error.code;
      }
    });
    const codes = Map.groupBy(await Promise.all(attempts), (code) => code);
    assert.deepEqual([...codes.keys()].toSorted(), ['INVALID_AUTH_TOKEN', 'UNAVAILABLE']);
    assert.equal(codes.get('INVALID_AUTH_TOKEN')!.length, database.reads.length);
    assert.ok(database.reads.length < 600);
    assert.deepEqual(recorded, []);
  });
});
