import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Database } from '../database/database.ts';
import { openDatabase } from '../database/open-database.ts';
import { sql } from '../database/statement.ts';
import { Refusal } from '../refusal.ts';
import { LoginThrottle, pauseLeftMs, type AttemptSource, addressRange } from './login-throttle.ts';

const minute = 60_000;

describe('the pause', () => {
  const limit = 50;
  const pause = (failures: number, sinceMs = 0) =>
    pauseLeftMs({ digest: Buffer.alloc(0), failures, startedAt: 0, failedAt: 0 }, limit, sinceMs);

  test('starts with one second at the limit and doubles with each failure, up to one minute', () => {
    assert.equal(pause(49), 0);
    const seconds = [50, 51, 52, 53, 54, 55, 56, 57, 5_000].map((failures) => pause(failures) / 1000);
    assert.deepEqual(seconds, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
  });

  test('ends at the exact millisecond', () => {
    assert.equal(pause(50, 999), 1);
    assert.ok(pause(50, 1_000) <= 0);
  });

  test('ends no later than the 15 minutes during which the failures count', () => {
    const failedAt = 15 * minute - 5_000;
    const failures = { digest: Buffer.alloc(0), failures: 90, startedAt: 0, failedAt };
    assert.equal(pauseLeftMs(failures, limit, failedAt), 5_000);
  });
});

describe('a throttle', () => {
  const anna: AttemptSource = { username: 'anna', address: '192.0.2.1' };
  const clock = { time: Date.parse('2026-03-01T12:00:00Z'), now: () => clock.time };
  let folder: string;
  let database: Database;
  let throttle: LoginThrottle;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-test-'));
    database = await openDatabase(`sqlite:${join(folder, 'espalier.db')}`, clock);
  });
  after(async () => {
    await database.close();
    rmSync(folder, { recursive: true });
  });
  beforeEach(async () => {
    await database.transaction((transaction) => transaction.run(sql`delete from login_failures`, {}));
    throttle = create();
  });

  const create = (options: { database?: Database; isOn?: boolean } = {}) =>
    new LoginThrottle({ database, clock, installation: 'here', isOn: true, ...options });

  /** The result of an attempt, as the client would see it. */
  async function outcome(work: Promise<unknown>): Promise<string> {
    try {
      return (await work) === undefined ? 'wrong' : 'right';
    } catch (error) {
      assert.ok(error instanceof Refusal);
      return error.code;
    }
  }
  const wrong = (guess: AttemptSource, by = throttle) =>
    outcome(
      by.attempt(guess, async () => {
        await setImmediate();
        return undefined;
      }),
    );
  const right = (guess: AttemptSource, by = throttle) =>
    outcome(
      by.attempt(guess, async (clearFailures) => {
        await setImmediate();
        await database.transaction(clearFailures);
        return 'session';
      }),
    );
  const repeat = async (times: number, each: (index: number) => Promise<string>) => {
    for (let index = 0; index < times; index++) assert.equal(await each(index), 'wrong');
  };
  const tally = (outcomes: readonly string[]) =>
    Object.fromEntries(
      [...Map.groupBy(outcomes, (each) => each)].map(([each, { length }]) => [each, length]),
    );
  const together = async (times: number, each: (index: number) => Promise<string>) =>
    tally(await Promise.all(Array.from({ length: times }, (_, index) => each(index))));

  test('admits no more concurrent wrong attempts than sequential ones', async () => {
    assert.deepEqual(await together(200, () => wrong(anna)), { wrong: 50, TOO_MANY_ATTEMPTS: 150 });
  });

  test('admits only one attempt after the pause, however many attempts and nodes there are', async () => {
    await repeat(50, () => wrong(anna));
    const nodes = [create(), create(), create()];
    for (const pause of [1, 2, 4]) {
      clock.time += pause * 1000 - 1;
      assert.equal(await wrong(anna), 'TOO_MANY_ATTEMPTS');
      clock.time += 1;
      const expected = { wrong: 1, TOO_MANY_ATTEMPTS: 59 };
      assert.deepEqual(await together(60, (index) => wrong(anna, nodes[index % 3])), expected);
    }
  });

  test('admits only a few more attempts than the limit if they go to several nodes at the same time', async () => {
    const nodes = [create(), create(), create()];
    const { wrong: count } = await together(600, (index) => wrong(anna, nodes[index % 3]));
    assert.ok(count! >= 50 && count! < 50 + 3 * 8, String(count));
  });

  test('counts all attempts from an address, for any name, including concurrent attempts', async () => {
    await repeat(480, (index) => wrong({ ...anna, username: `name ${index}` }));
    const outcomes = await together(100, (index) => wrong({ ...anna, username: `other ${index}` }));
    assert.deepEqual(outcomes, { wrong: 20, TOO_MANY_ATTEMPTS: 80 });
  });

  test('admits all concurrent correct attempts, even just below the limit', async () => {
    await repeat(49, () => wrong(anna));
    assert.deepEqual(await together(200, () => right(anna)), { right: 200 });
  });

  test('admits correct attempts among wrong ones, without a deadlock', async () => {
    const mixed = (index: number) => (index % 4 ? right : wrong)({ ...anna, username: `name ${index % 3}` });
    assert.deepEqual(await together(160, mixed), { right: 120, wrong: 40 });
  });

  test('clears the failures of the name and address after a correct attempt, but not the failures of the address alone', async () => {
    await repeat(499, (index) => wrong({ ...anna, username: `name ${index}` }));
    await repeat(1, () => wrong(anna));
    clock.time += 1000;
    assert.equal(await right(anna), 'right');
    assert.equal(await wrong({ ...anna, username: 'bert' }), 'wrong');
    assert.equal(await right(anna), 'TOO_MANY_ATTEMPTS');
    clock.time += 1999;
    assert.equal(await right(anna), 'TOO_MANY_ATTEMPTS');
    clock.time += 1;
    assert.equal(await right(anna), 'right');
    assert.equal(await right(anna), 'right');
  });

  test('does not count an attempt that failed for another reason', async () => {
    for (let index = 0; index < 60; index++) {
      const failing: Promise<unknown> = throttle.attempt(anna, () =>
        Promise.reject(new Refusal('UNAVAILABLE')),
      );
      assert.equal(await outcome(failing), 'UNAVAILABLE');
    }
    assert.equal(await wrong(anna), 'wrong');
  });

  test('rejects an attempt that it cannot count', async () => {
    const unwritable = create({
      database: { ...database, transaction: () => Promise.reject(new Refusal('UNAVAILABLE')) },
    });
    assert.equal(await wrong(anna, unwritable), 'UNAVAILABLE');
  });

  test('treats names that differ only in case as one, and counts invalid names as well', async () => {
    await repeat(50, (index) => wrong({ ...anna, username: index % 2 ? 'ANNA' : 'anna' }));
    assert.equal(await wrong(anna), 'TOO_MANY_ATTEMPTS');
    for (const username of ['', 'x'.repeat(10_000), '\ud800']) {
      await repeat(50, () => wrong({ ...anna, username }));
      assert.equal(await wrong({ ...anna, username }), 'TOO_MANY_ATTEMPTS');
    }
  });

  test('works after the clock was wrong', async () => {
    clock.time += 365 * 24 * 60 * minute;
    await repeat(50, () => wrong(anna));
    clock.time -= 365 * 24 * 60 * minute;
    await repeat(50, () => wrong(anna));
    assert.equal(await wrong(anna), 'TOO_MANY_ATTEMPTS');
  });

  test('counts failures for 15 minutes from the first one', async () => {
    await repeat(1, () => wrong(anna));
    clock.time += 15 * minute - 1;
    await repeat(49, () => wrong(anna));
    assert.equal(await wrong(anna), 'TOO_MANY_ATTEMPTS');
    clock.time += 1;
    await repeat(50, () => wrong(anna));
    assert.equal(await wrong(anna), 'TOO_MANY_ATTEMPTS');
  });

  test('rejects an attempt behind 500 waiting ones', async () => {
    const outcomes = await together(520, () => right(anna));
    assert.deepEqual(outcomes, { right: 500, UNAVAILABLE: 20 });
    assert.equal(await right(anna), 'right');
  });

  test('counts nothing if it is disabled', async () => {
    const off = create({ isOn: false });
    await repeat(60, () => wrong(anna, off));
    assert.equal(await wrong(anna), 'wrong');
  });
});

const sameRange = [
  ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff'],
  ['2001:DB8:1:2::1', '2001:0db8:0001:0002:0000:0000:0000:0009'],
  ['fe80::1%eth0', 'fe80::2%eth1'],
  ['::1', '::2'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::ffff:c000:207', '192.0.2.7'],
  ['64:ff9b::192.0.2.7', '192.0.2.7'],
] as const;

const otherRange = [
  ['2001:db8:1:2::1', '2001:db8:1:3::1'],
  ['192.0.2.7', '192.0.2.8'],
  ['::ffff:192.0.2.7', '::ffff:192.0.2.8'],
  ['64:ff9b::192.0.2.7', '64:ff9b::192.0.2.8'],
  ['::1', '127.0.0.1'],
] as const;

test('uses the /64 of an IPv6 address in any notation, and the whole IPv4 address', () => {
  for (const [one, other] of sameRange)
    assert.equal(addressRange(one), addressRange(other), `${one} ${other}`);
});

test('separates networks and IPv4 addresses, even in IPv6 notation', () => {
  for (const [one, other] of otherRange) {
    assert.notEqual(addressRange(one), addressRange(other), `${one} ${other}`);
  }
});

test('returns an empty range without an address', () => {
  assert.equal(addressRange(null), '');
});
