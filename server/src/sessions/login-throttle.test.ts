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

describe('the pause after failed attempts', () => {
  const limit = { windowMs: 15 * minute, maxFailures: 50, maxPauseMs: minute };
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

  test('ends no later than 15 minutes after the first failure', () => {
    const failedAt = 15 * minute - 5_000;
    const failures = { digest: Buffer.alloc(0), failures: 90, startedAt: 0, failedAt };
    assert.equal(pauseLeftMs(failures, limit, failedAt), 5_000);
  });
});

describe('the login throttle', () => {
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
    throttle = createThrottle();
  });

  const createThrottle = (options: { database?: Database; isOn?: boolean } = {}) =>
    new LoginThrottle({ database, clock, installation: 'here', isOn: true, ...options });

  /** The result of an attempt, as the client would see it. */
  async function outcomeOf(work: Promise<unknown>): Promise<string> {
    try {
      return (await work) === undefined ? 'wrong' : 'correct';
    } catch (error) {
      assert.ok(error instanceof Refusal);
      return error.code;
    }
  }
  const attemptWrong = (guess: AttemptSource, by = throttle) =>
    outcomeOf(
      by.attempt(guess, async () => {
        await setImmediate();
        return undefined;
      }),
    );
  const attemptCorrect = (guess: AttemptSource, by = throttle) =>
    outcomeOf(
      by.attempt(guess, async (clearFailures) => {
        await setImmediate();
        await database.transaction(clearFailures);
        return 'session';
      }),
    );
  const failTimes = async (times: number, each: (index: number) => Promise<string>) => {
    for (let index = 0; index < times; index++) assert.equal(await each(index), 'wrong');
  };
  const countOutcomes = (outcomes: readonly string[]) =>
    Object.fromEntries(
      [...Map.groupBy(outcomes, (each) => each)].map(([each, { length }]) => [each, length]),
    );
  const runConcurrently = async (times: number, each: (index: number) => Promise<string>) =>
    countOutcomes(await Promise.all(Array.from({ length: times }, (_, index) => each(index))));

  test('admits no more wrong attempts if they are concurrent', async () => {
    assert.deepEqual(await runConcurrently(200, () => attemptWrong(anna)), {
      wrong: 50,
      TOO_MANY_ATTEMPTS: 150,
    });
  });

  test('admits only one attempt after each pause, across all nodes', async () => {
    await failTimes(50, () => attemptWrong(anna));
    const nodes = [createThrottle(), createThrottle(), createThrottle()];
    for (const pause of [1, 2, 4]) {
      clock.time += pause * 1000 - 1;
      assert.equal(await attemptWrong(anna), 'TOO_MANY_ATTEMPTS');
      clock.time += 1;
      const expected = { wrong: 1, TOO_MANY_ATTEMPTS: 59 };
      assert.deepEqual(await runConcurrently(60, (index) => attemptWrong(anna, nodes[index % 3])), expected);
    }
  });

  test('exceeds the limit by only a few attempts if several nodes receive them concurrently', async () => {
    const nodes = [createThrottle(), createThrottle(), createThrottle()];
    const { wrong: count } = await runConcurrently(600, (index) => attemptWrong(anna, nodes[index % 3]));
    assert.ok(count! >= 50 && count! < 50 + 3 * 8, String(count));
  });

  test('counts all wrong attempts from an address, for any user name', async () => {
    await failTimes(480, (index) => attemptWrong({ ...anna, username: `name ${index}` }));
    const outcomes = await runConcurrently(100, (index) =>
      attemptWrong({ ...anna, username: `other ${index}` }),
    );
    assert.deepEqual(outcomes, { wrong: 20, TOO_MANY_ATTEMPTS: 80 });
  });

  test('admits all concurrent correct attempts, even just below the limit', async () => {
    await failTimes(49, () => attemptWrong(anna));
    assert.deepEqual(await runConcurrently(200, () => attemptCorrect(anna)), { correct: 200 });
  });

  test('admits concurrent correct and wrong attempts without a deadlock', async () => {
    const mixed = (index: number) =>
      (index % 4 ? attemptCorrect : attemptWrong)({ ...anna, username: `name ${index % 3}` });
    assert.deepEqual(await runConcurrently(160, mixed), { correct: 120, wrong: 40 });
  });

  test('clears the failures of a user name after a correct attempt, not of its address', async () => {
    await failTimes(499, (index) => attemptWrong({ ...anna, username: `name ${index}` }));
    await failTimes(1, () => attemptWrong(anna));
    clock.time += 1000;
    assert.equal(await attemptCorrect(anna), 'correct');
    assert.equal(await attemptWrong({ ...anna, username: 'bert' }), 'wrong');
    assert.equal(await attemptCorrect(anna), 'TOO_MANY_ATTEMPTS');
    clock.time += 1999;
    assert.equal(await attemptCorrect(anna), 'TOO_MANY_ATTEMPTS');
    clock.time += 1;
    assert.equal(await attemptCorrect(anna), 'correct');
    assert.equal(await attemptCorrect(anna), 'correct');
  });

  test('does not count an attempt that fails for a reason other than the password', async () => {
    for (let index = 0; index < 60; index++) {
      const failing: Promise<unknown> = throttle.attempt(anna, () =>
        Promise.reject(new Refusal('UNAVAILABLE')),
      );
      assert.equal(await outcomeOf(failing), 'UNAVAILABLE');
    }
    assert.equal(await attemptWrong(anna), 'wrong');
  });

  test('rejects an attempt that it cannot count', async () => {
    const failingThrottle = createThrottle({
      database: { ...database, transaction: () => Promise.reject(new Refusal('UNAVAILABLE')) },
    });
    assert.equal(await attemptWrong(anna, failingThrottle), 'UNAVAILABLE');
  });

  test('ignores the case of user names, and also counts invalid ones', async () => {
    await failTimes(50, (index) => attemptWrong({ ...anna, username: index % 2 ? 'ANNA' : 'anna' }));
    assert.equal(await attemptWrong(anna), 'TOO_MANY_ATTEMPTS');
    for (const username of ['', 'x'.repeat(10_000), '\ud800']) {
      await failTimes(50, () => attemptWrong({ ...anna, username }));
      assert.equal(await attemptWrong({ ...anna, username }), 'TOO_MANY_ATTEMPTS');
    }
  });

  test('limits attempts after the clock was set back', async () => {
    clock.time += 365 * 24 * 60 * minute;
    await failTimes(50, () => attemptWrong(anna));
    clock.time -= 365 * 24 * 60 * minute;
    await failTimes(50, () => attemptWrong(anna));
    assert.equal(await attemptWrong(anna), 'TOO_MANY_ATTEMPTS');
  });

  test('counts failures for 15 minutes from the first one', async () => {
    await failTimes(1, () => attemptWrong(anna));
    clock.time += 15 * minute - 1;
    await failTimes(49, () => attemptWrong(anna));
    assert.equal(await attemptWrong(anna), 'TOO_MANY_ATTEMPTS');
    clock.time += 1;
    await failTimes(50, () => attemptWrong(anna));
    assert.equal(await attemptWrong(anna), 'TOO_MANY_ATTEMPTS');
  });

  test('admits 114 wrong codes of a user within 24 hours, and forgets them afterwards', async () => {
    const code = { codeOf: 'anna' };
    const endsAt = clock.time + 24 * 60 * minute;
    let wrong = 0;
    while (clock.time < endsAt) {
      try {
        await throttle.attempt(code, () => Promise.resolve(undefined));
        wrong++;
      } catch (error) {
        assert.ok(error instanceof Refusal);
        clock.time += 1000 * error.details.retryAfterSeconds!;
      }
    }
    assert.equal(wrong, 114);
    await failTimes(10, () => attemptWrong(code));
    assert.equal(await attemptWrong(code), 'TOO_MANY_ATTEMPTS');
  });

  test('deletes failures as soon as they no longer count', async () => {
    const countRows = async () => {
      await throttle.prune();
      return (await database.all(sql<object, object>`select digest from login_failures`, {})).length;
    };
    await failTimes(1, () => attemptWrong(anna));
    await failTimes(1, () => attemptWrong({ codeOf: 'anna' }));
    clock.time += 15 * minute - 1;
    assert.equal(await countRows(), 3);
    clock.time += 1;
    assert.equal(await countRows(), 1);
    clock.time += 24 * 60 * minute - 15 * minute - 1;
    assert.equal(await countRows(), 1);
    clock.time += 1;
    assert.equal(await countRows(), 0);
  });

  test('rejects an attempt if 500 others are in its queue', async () => {
    const outcomes = await runConcurrently(520, () => attemptCorrect(anna));
    assert.deepEqual(outcomes, { correct: 500, UNAVAILABLE: 20 });
    assert.equal(await attemptCorrect(anna), 'correct');
  });

  test('counts nothing if it is disabled', async () => {
    const disabledThrottle = createThrottle({ isOn: false });
    await failTimes(60, () => attemptWrong(anna, disabledThrottle));
    assert.equal(await attemptWrong(anna), 'wrong');
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

test('addressRange() returns the /64 of an IPv6 address, or the whole IPv4 address', () => {
  for (const [one, other] of sameRange)
    assert.equal(addressRange(one), addressRange(other), `${one} ${other}`);
});

test('addressRange() returns different ranges for different networks or IPv4 addresses', () => {
  for (const [one, other] of otherRange) {
    assert.notEqual(addressRange(one), addressRange(other), `${one} ${other}`);
  }
});

test('addressRange() returns an empty text if the address is unknown', () => {
  assert.equal(addressRange(null), '');
});
