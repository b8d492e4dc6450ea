/** `espalier sign-in`: listing sign-ins and failed attempts. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sqlite } from '../support/databases.ts';
import type { Person } from '../people/people-testbed.ts';
import { CommandTestbed } from './command-testbed.ts';

interface SignIn {
  readonly username: string | null;
  readonly result: string;
  readonly count: number;
}

describe(`sign-in commands on ${sqlite.name}`, () => {
  let testbed: CommandTestbed;
  let anna: Person;
  before(async () => {
    testbed = await CommandTestbed.start(sqlite);
    anna = await testbed.people.createUser({ username: 'Anna' });
    await testbed.logIn(anna, 'anna');
    const { server } = testbed.people;
    server.clock.advanceSeconds(60);
    for (let count = 0; count < 40; count++) {
      await server.post('/login', { username: 'anna', password: 'wrong' });
    }
    await server.post('/login', { username: 'a\u001b[31m', password: 'wrong' });
    await server.purge();
  });
  after(() => testbed.stop());

  const ls = (...args: string[]) => testbed.json<readonly SignIn[]>('sign-in', 'ls', ...args);
  const total = (signIns: readonly SignIn[]) => signIns.reduce((sum, { count }) => sum + count, 0);

  test("list the user's own sign-ins with the failed attempts, newest first", async () => {
    const table = await testbed.runOk('sign-in', '--profile', 'anna');
    assert.match(table, /^At \(UTC\) +User +Method +Result +Address +Device +Details\n/);
    assert.match(
      table,
      /^2026-03-01 12:01:00 +Anna +password +wrong-credentials +127\.0\.0\.1 +- +10 times until 2026-03-01 12:01:00$/m,
    );
    assert.match(
      table,
      /\n2026-03-01 12:00:00 +Anna +password +success +127\.0\.0\.1 +Espalier command line \d\S* +-\n$/,
    );
    const own = await ls('--profile', 'anna');
    assert.deepEqual([...new Set(own.map(({ username }) => username))], ['Anna']);
    assert.equal(total(own), 41);
    assert.equal((await ls('--profile', 'anna', '-n', '3')).length, 3);
    assert.equal((await ls('--profile', 'anna', '-n', '0')).length, 0);
  });

  test('let an administrator filter the sign-ins of all users', async () => {
    const failed = await ls('--all', '--failed');
    assert.equal(total(failed), 41);
    assert.ok(failed.some(({ username }) => username === null));
    assert.deepEqual(await ls('--all', '--result', 'wrong-credentials'), failed);
    assert.deepEqual(await ls('--all', '--result', 'WRONG_CREDENTIALS', '--method', 'password'), failed);
    assert.deepEqual(await ls('--all', '--method', 'passkey', '--method', 'api-key'), []);
    assert.equal(total(await ls('--user', 'anna', '--failed')), 40);
    assert.deepEqual(await ls('--user', `id:${anna.id}`, '--until', '2026-03-01 12:01'), [
      ...(await ls('--user', 'anna', '--result', 'success')),
    ]);
    assert.deepEqual(await ls('--all', '--from', '2026-03-01 12:02'), []);
  });

  test('refuse filters without --all or --user, and unknown values', async () => {
    const refuse = (...args: string[]) => testbed.runRefused('sign-in', 'ls', ...args);
    assert.match(await refuse('--failed'), /^2: Filters require --all or --user <name>/);
    assert.match(
      await refuse('--all', '--result', 'failure'),
      /^2: Unknown result "failure"\. Use one of success, /,
    );
    assert.match(await refuse('--all', '--method', 'x'), /^2: Unknown method "x"\. Use one of password, /);
    assert.match(await refuse('--all', '--failed', '--result', 'success'), /^2: /);
    assert.match(await refuse('--all', '--from', 'yesterday'), /^2: Invalid value "yesterday" for --from/);
  });

  test('hide the sign-ins of others from users who are not administrators', async () => {
    const refuse = (...args: string[]) => testbed.runRefused('sign-in', 'ls', '--profile', 'anna', ...args);
    assert.equal(await refuse('--all'), '1: Only administrators may do this.');
    assert.match(await refuse('--user', 'admin'), /^1: There is no user admin, or you may not see it/);
  });
});
