import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { maxBurst, SignInBuffer, type BufferedSignIn, type SignInAttempt } from './sign-in-buffer.ts';

const minute = 60_000;

describe('the buffer of sign-ins', () => {
  let buffer: SignInBuffer;
  let now = 0;
  beforeEach(() => {
    buffer = new SignInBuffer();
    now = Date.parse('2026-03-01T12:00:00Z');
  });

  const wrong: SignInAttempt = {
    userId: null,
    username: 'anna',
    method: 'PASSWORD',
    result: 'WRONG_CREDENTIALS',
    address: '192.0.2.1',
    agent: 'test/1',
  };
  const add = (attempt: Partial<SignInAttempt> = {}, times = 1) => {
    for (let count = 0; count < times; count++) buffer.add({ ...wrong, ...attempt }, now);
  };
  /** Stores all rows and returns them. */
  const store = (): BufferedSignIn[] => {
    const rows = buffer.pending();
    const stored = rows.map((row) => ({ ...row }));
    const counts = stored.map(({ count }) => count);
    buffer.markStored(rows, counts);
    return stored;
  };
  const total = (rows: readonly BufferedSignIn[]) => rows.reduce((sum, { count }) => sum + count, 0);

  test('gives each of the first attempts of an address its own row', () => {
    add({}, 30);
    const rows = store();
    assert.deepEqual(
      rows.map(({ count, username, address, agent }) => [count, username, address, agent]),
      Array.from({ length: 30 }, () => [1, 'anna', '192.0.2.1', 'test/1']),
    );
    assert.equal(new Set(rows.map(({ id }) => id)).size, 30);
  });

  test('counts further attempts of an address in one row for each user', () => {
    add({}, 30);
    add({}, 500);
    now += 1_000;
    add({ username: 'bert' }, 5);
    const summaries = store().slice(30);
    assert.deepEqual(
      summaries.map(({ count, username, agent }) => [count, username, agent]),
      [
        [500, 'anna', null],
        [5, 'bert', null],
      ],
    );
  });

  test('stores a summary again under the same id after its count has grown', () => {
    add({}, 31);
    const [first] = store().slice(30);
    assert.deepEqual(store(), []);
    now += minute;
    add();
    const [second, ...others] = store();
    assert.deepEqual(second, { ...first, count: 2, lastAt: now });
    assert.deepEqual(others, []);
  });

  test('keeps a summary that has grown while it was stored', () => {
    add({}, 31);
    const rows = buffer.pending();
    const counts = rows.map(({ count }) => count);
    add();
    buffer.markStored(rows, counts);
    assert.deepEqual(
      store().map(({ count }) => count),
      [2],
    );
  });

  test('counts attempts on many names from one address without their names', () => {
    for (let index = 0; index < 200; index++) add({ username: `user ${index}` });
    const rows = store();
    assert.equal(rows.length, 61);
    assert.equal(total(rows), 200);
    const { count, username, address } = rows.at(-1)!;
    assert.deepEqual([count, username, address], [140, null, '192.0.2.1']);
  });

  test('treats a /64 of IPv6 as one address', () => {
    for (let index = 0; index < 100; index++) add({ address: `2001:db8::${index + 1}` });
    const rows = store();
    assert.equal(rows.length, 31);
    assert.deepEqual([rows[30]!.address, rows[30]!.count], ['2001:db8:0:0::/64', 70]);
  });

  test('counts attempts from many addresses in one row for each result after a burst', () => {
    const attempts = maxBurst + 5_000;
    for (let index = 0; index < attempts; index++) {
      add({ address: `10.${index >> 16}.${(index >> 8) & 255}.${index & 255}` });
    }
    add({ address: '203.0.113.9', result: 'THROTTLED' });
    const rows = store();
    assert.equal(rows.length, maxBurst + 2);
    assert.equal(total(rows), attempts + 1);
    assert.deepEqual(
      rows.slice(-2).map(({ count, address, username, result }) => [count, address, username, result]),
      [
        [5_000, null, null, 'WRONG_CREDENTIALS'],
        [1, null, null, 'THROTTLED'],
      ],
    );
  });

  test('allows at most 7,200 rows a day under a lasting attack', () => {
    for (let index = 0; index < maxBurst; index++) add({ address: `10.0.${index >> 8}.${index & 255}` });
    store();
    const ids = new Set<string>();
    for (let second = 0; second < 86_400; second += 2) {
      now += 2_000;
      add({ address: `10.${second >> 16}.${(second >> 8) & 255}.${second & 255}` });
      for (const { id, address } of store()) if (address !== null) ids.add(id);
    }
    assert.equal(ids.size, 7_200);
  });

  test('starts again after 15 minutes, and after the clock was set back', () => {
    add({}, 40);
    store();
    now += 15 * minute;
    add({}, 2);
    assert.deepEqual(
      store().map(({ count, agent }) => [count, agent]),
      [
        [1, 'test/1'],
        [1, 'test/1'],
      ],
    );
    add({}, 40);
    store();
    now -= 60 * minute;
    add();
    assert.deepEqual(
      store().map(({ count, agent }) => [count, agent]),
      [[1, 'test/1']],
    );
  });

  test('gives successes their own rows, even during an attack from their address and from many others', () => {
    add({}, 500);
    for (let index = 0; index < maxBurst; index++) add({ address: `10.0.${index >> 8}.${index & 255}` });
    store();
    add({ result: 'SUCCESS', method: 'API_KEY', userId: 'someone' }, 3);
    assert.deepEqual(
      store().map(({ count, userId }) => [count, userId]),
      [
        [1, 'someone'],
        [1, 'someone'],
        [1, 'someone'],
      ],
    );
  });

  test('limits the rows for an API key that is used from very many addresses, and still counts', () => {
    const [ids, perHour] = [new Set<string>(), 3_000];
    let uses = 0;
    for (let use = 0; use < 24 * perHour; use++) {
      now += 3_600_000 / perHour;
      const address = `10.${use >> 16}.${(use >> 8) & 255}.${use & 255}`;
      add({ result: 'SUCCESS', method: 'API_KEY', userId: 'someone', address });
      for (const { id, address: stored } of store()) {
        if (stored !== null) uses++;
        ids.add(id);
      }
    }
    add();
    assert.equal(store().length, 1);
    assert.ok(uses <= maxBurst + 7_200, `${uses} rows`);
    assert.ok(ids.size <= uses + 97, `${ids.size} rows`);
  });

  test('limits the memory while nothing can be stored, and still counts', () => {
    add({ result: 'SUCCESS', userId: 'someone' }, 20_000);
    const rows = store();
    assert.ok(rows.length <= 10_001);
    assert.equal(total(rows), 20_000);
  });
});
