/** The caches of verified and of revoked API keys, while keys are revoked during a read and journal entries are missed. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Database } from '../database/database.ts';
import type { JournalEntry } from '../journal/journal-entry.ts';
import type { JournalFeed } from '../journal/journal-feed.ts';
import { Refusal } from '../refusal.ts';
import { createApiKeyText } from './api-key-text.ts';
import { ApiKeyVerification } from './api-key-verification.ts';
import { RevocationCache } from './revocation.ts';

const now = Date.parse('2026-03-01T12:00:00Z');
const { text, identifier, secretDigest } = createApiKeyText();
const storedKey = {
  id: '019c1407-aa00-7abc-8def-0123456789a1',
  userId: '019c1407-aa00-7abc-8def-0123456789a2',
  name: 'deploy',
  identifier,
  secretDigest,
  level: 1,
  isAdministrator: 0,
  folderId: null,
  networks: null,
  expiresAt: null,
  revokedAt: null as number | null,
  userDisabledAt: null as number | null,
};

const { id: apiKeyId, userId } = storedKey;
const revocation = { kind: 'REVOKE_API_KEY', userId, at: now, before: JSON.stringify({ apiKeyId }) } as const;
const setDisabled = (isDisabled: boolean) =>
  ({ kind: 'UPDATE_USER', userId, at: now, after: JSON.stringify({ isDisabled }) }) as const;

/** A read that the test finishes, with the rows of the time when it began. */
interface PendingRead {
  readonly name: 'key' | 'revoked keys' | 'disabled users';
  readonly finish: () => void;
}

/** Both caches of one node. Its reads take until the test finishes them, and the test delivers the journal. */
async function startNode() {
  const row = { ...storedKey };
  const reads: PendingRead[] = [];
  let isPaused = false;
  const read = <T>(name: PendingRead['name'], result: T): Promise<T> => {
    if (!isPaused) return Promise.resolve(result);
    return new Promise((resolve) => {
      reads.push({ name, finish: () => resolve(result) });
    });
  };
  const entryListeners: ((entry: JournalEntry) => unknown)[] = [];
  const gapListeners: (() => void)[] = [];
  let keyReads = 0;
  const database = {
    isEmbedded: false,
    get: () => {
      keyReads++;
      return read('key', { ...row });
    },
    all: (statement: { parts: readonly unknown[] }) => {
      const sql = JSON.stringify(statement.parts);
      const { revokedAt, userDisabledAt } = row;
      if (sql.includes('from api_keys where revoked_at'))
        return read('revoked keys', revokedAt === null ? [] : [{ id: apiKeyId, at: revokedAt }]);
      if (sql.includes('disabled_at as at'))
        return read('disabled users', userDisabledAt === null ? [] : [{ id: userId, at: userDisabledAt }]);
      return Promise.resolve([]);
    },
  } as unknown as Database;
  const feed = {
    onEntry: (listener) => void entryListeners.push(listener),
    onGap: (listener) => void gapListeners.push(listener),
    isClosed: false,
  } as Pick<JournalFeed, 'onEntry' | 'onGap' | 'isClosed'> as JournalFeed;
  const clock = { now: () => now };
  const revoked = await RevocationCache.open({
    database,
    feed,
    clock,
    onError: assert.ifError,
  });
  const signIns = { record: () => undefined };
  const keys = new ApiKeyVerification({ database, clock, feed, revoked, signIns });
  return {
    row,
    revoked,
    pause: () => (isPaused = true),
    resume: () => (isPaused = false),
    /** Waits for the next read of this name to begin. */
    async nextRead(name: PendingRead['name']): Promise<PendingRead> {
      for (let round = 0; round < 100; round++) {
        const index = reads.findIndex((each) => each.name === name);
        if (index >= 0) return reads.splice(index, 1)[0]!;
        await new Promise(setImmediate);
      }
      return assert.fail(`The node does not read ${name}.`);
    },
    get keyReads() {
      return keyReads;
    },
    deliver: (entry: Partial<JournalEntry>) =>
      entryListeners.forEach((listener) => listener(entry as JournalEntry)),
    missEntries: () => gapListeners.forEach((listener) => listener()),
    /** Returns the message of the refusal, or undefined. */
    async authenticate(): Promise<string | undefined> {
      try {
        assert.equal((await keys.authenticate(text, '192.0.2.1')).apiKeyId, apiKeyId);
        return undefined;
      } catch (error) {
        assert.ok(error instanceof Refusal && error.code === 'INVALID_AUTH_TOKEN', String(error));
        return error.message;
      }
    },
  };
}

describe('the cache of verified API keys', () => {
  const ends: Readonly<
    Record<string, { entry: Partial<JournalEntry>; change: Partial<typeof storedKey>; next: RegExp }>
  > = {
    'the key is revoked': { entry: revocation, change: { revokedAt: now }, next: /was revoked/ },
    'its user is disabled': {
      entry: setDisabled(true),
      change: { userDisabledAt: now },
      next: /is disabled/,
    },
  };
  for (const [title, { entry, change, next }] of Object.entries(ends)) {
    test(`does not keep a key that is read while ${title}`, async () => {
      const node = await startNode();
      node.pause();
      const outcome = node.authenticate();
      const read = await node.nextRead('key');
      Object.assign(node.row, change);
      node.deliver(entry);
      read.finish();
      assert.match((await outcome) ?? 'no refusal', /revoked, or its user is disabled/);
      node.resume();
      assert.match((await node.authenticate()) ?? 'no refusal', next);
      assert.equal(node.keyReads, 2);
    });

    test(`removes a key when ${title}`, async () => {
      const node = await startNode();
      assert.equal(await node.authenticate(), undefined);
      assert.equal(await node.authenticate(), undefined);
      assert.equal(node.keyReads, 1);
      Object.assign(node.row, change);
      node.deliver(entry);
      assert.match((await node.authenticate()) ?? 'no refusal', next);
      assert.equal(node.keyReads, 2);
    });

    test(`reads a key again if ${title} in journal entries that the node missed`, async () => {
      const node = await startNode();
      assert.equal(await node.authenticate(), undefined);
      node.pause();
      Object.assign(node.row, change);
      node.missEntries();
      const outcome = node.authenticate();
      (await node.nextRead('key')).finish();
      assert.match((await outcome) ?? 'no refusal', next);
      assert.equal(node.keyReads, 2);
    });
  }

  test('does not keep a key that is read while the node misses journal entries', async () => {
    const node = await startNode();
    node.pause();
    const outcome = node.authenticate();
    const read = await node.nextRead('key');
    node.row.revokedAt = now;
    node.missEntries();
    read.finish();
    await outcome;
    node.resume();
    assert.match((await node.authenticate()) ?? 'no refusal', /was revoked/);
  });

  test('keeps a key when another key is revoked or another user is changed', async () => {
    const node = await startNode();
    await node.authenticate();
    const otherId = '019c1407-aa00-7abc-8def-0123456789a3';
    node.deliver({ ...revocation, before: JSON.stringify({ apiKeyId: otherId }) });
    node.deliver({ ...setDisabled(true), userId: otherId });
    assert.equal(await node.authenticate(), undefined);
    assert.equal(node.keyReads, 1);
  });
});

describe('the cache of revoked API keys', () => {
  const viewer = { userId, sessionId: undefined, apiKeyId };

  test('contains the keys that were revoked in journal entries that the node missed', async () => {
    const node = await startNode();
    node.row.revokedAt = now;
    node.missEntries();
    await new Promise(setImmediate);
    assert.equal(node.revoked.has(viewer), true);
  });

  for (const isDisabled of [true, false]) {
    const change = isDisabled ? 'disabled' : 'enabled';
    test(`applies an entry by which a user is ${change} after the disabled users were read`, async () => {
      const node = await startNode();
      node.row.userDisabledAt = isDisabled ? null : now;
      node.pause();
      node.missEntries();
      (await node.nextRead('revoked keys')).finish();
      const read = await node.nextRead('disabled users');
      node.deliver(setDisabled(isDisabled));
      read.finish();
      await new Promise(setImmediate);
      assert.equal(node.revoked.has(viewer), isDisabled);
    });
  }

  test('ignores an older read of the disabled users that ends after a later one', async () => {
    const node = await startNode();
    node.pause();
    const startRead = async () => {
      node.missEntries();
      (await node.nextRead('revoked keys')).finish();
      return node.nextRead('disabled users');
    };
    const older = await startRead();
    node.row.userDisabledAt = now;
    node.deliver(setDisabled(true));
    const later = await startRead();
    later.finish();
    await new Promise(setImmediate);
    older.finish();
    await new Promise(setImmediate);
    assert.equal(node.revoked.has(viewer), true);
  });
});
