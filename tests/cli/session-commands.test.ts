/** `espalier session`: listing and ending sessions. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sqlite } from '../support/databases.ts';
import type { Person } from '../people/people-testbed.ts';
import { CommandTestbed } from './command-testbed.ts';

interface Session {
  readonly id: string;
  readonly user: { readonly username: string };
  readonly agent: string;
  readonly isCurrent: boolean;
  readonly refreshes: readonly { readonly replays: number }[];
}

describe(`session commands on ${sqlite.name}`, () => {
  let testbed: CommandTestbed;
  let anna: Person;
  before(async () => {
    testbed = await CommandTestbed.start(sqlite);
    anna = await testbed.people.createUser({ username: 'Anna' });
    await testbed.logIn(anna, 'anna');
  });
  after(() => testbed.stop());

  const listOwnSessions = () => testbed.json<Session[]>('session', 'ls', '--profile', 'anna');

  test("list the user's own sessions, mark the current one, and end the others", async () => {
    await testbed.people.logIn(anna);
    await testbed.people.logIn(anna);
    const table = await testbed.runOk('session', 'ls', '--profile', 'anna');
    assert.match(table, /^Id +User +Since \(UTC\) +Refreshed \(UTC\) +Address +Device\n/);
    assert.match(
      table,
      /^[\da-f-]{36} \* +Anna +2026-03-01 12:00 +2026-03-01 12:00 +127\.0\.0\.1 +Espalier command line \d/m,
    );
    assert.equal(table.split('\n').length, 5);
    assert.equal(
      await testbed.runOk('session', 'revoke', '--all-others', '--profile', 'anna'),
      'Sessions ended: 2.\n',
    );
    assert.deepEqual(
      (await listOwnSessions()).map(({ isCurrent }) => isCurrent),
      [true],
    );
  });

  test('let an administrator list all sessions and end some by id, even if one id is unknown', async () => {
    const tokens = await testbed.people.logIn(anna);
    const all = await testbed.json<Session[]>('session', 'ls', '--all');
    const sessionsOfAnna = await testbed.json<Session[]>('session', 'ls', '--user', 'anna');
    assert.ok(all.some(({ user, isCurrent }) => user.username === 'admin' && isCurrent));
    assert.deepEqual(
      sessionsOfAnna,
      all.filter(({ user }) => user.username === 'Anna'),
    );
    const [other] = sessionsOfAnna.filter(({ agent }) => !agent.startsWith('espalier/'));
    const { code, output, errors } = await testbed.run('session', 'revoke', 'nothing', other!.id);
    assert.deepEqual({ code, output }, { code: 1, output: 'Sessions ended: 1.\n' });
    assert.equal(errors, 'espalier: There is no session nothing, or it has ended already.\n');
    assert.equal((await testbed.run('session', 'revoke', 'nothing')).output, '');
    assert.equal((await testbed.people.server.refresh(tokens)).status, 401);
    assert.equal((await listOwnSessions()).length, 1);
  });

  test('show a session with its refreshes and with a replayed token', async () => {
    const { clock } = testbed.people.server;
    const tokens = await testbed.people.logIn(anna);
    const hers = await testbed.json<Session[]>('session', 'ls', '--user', 'Anna');
    const [{ id }] = hers.filter(({ agent }) => !agent.startsWith('espalier/')) as [Session];
    assert.match(await testbed.runOk('session', 'show', id), /\n\nNot refreshed in the last seven days\.\n$/);
    clock.advanceSeconds(30);
    assert.equal((await testbed.people.server.refresh(tokens)).status, 200);
    clock.advanceSeconds(20);
    assert.equal((await testbed.people.server.refresh(tokens)).status, 401);
    await testbed.people.server.purge();
    const text = await testbed.runOk('session', 'show', id);
    assert.match(
      text,
      /^Refreshed \(UTC\) +Address +Device +Spent token reused\n2026-03-01 12:00:30 +127\.0\.0\.1 +node +once, at 2026-03-01 12:00:50 UTC, 127\.0\.0\.1, node$/m,
    );
    assert.deepEqual(
      (await testbed.json<Session>('session', 'show', id, '--profile', 'anna')).refreshes.map(
        ({ replays }) => replays,
      ),
      [1],
    );
  });

  test('hide sessions of others from users who are not administrators', async () => {
    const refuseAsAnna = (...args: string[]) => testbed.runRefused('session', ...args, '--profile', 'anna');
    const [admins] = await testbed.json<[Session]>('session', 'ls');
    assert.equal(await refuseAsAnna('ls', '--all'), '1: Only administrators may do this.');
    assert.match(
      await refuseAsAnna('ls', '--user', 'admin'),
      /^1: There is no user admin, or you may not see it/,
    );
    assert.match(
      await refuseAsAnna('show', admins.id),
      /^1: There is no active session [\da-f-]+, or you do not have access/,
    );
    assert.match(await refuseAsAnna('revoke', '--user', 'admin'), /^1: There is no user admin/);
    assert.equal((await testbed.run('session', 'revoke', admins.id, '--profile', 'anna')).code, 1);
    await testbed.runOk('whoami');
    assert.match(await refuseAsAnna('revoke'), /^2: Specify either the ids/);
    assert.match(await refuseAsAnna('revoke', admins.id, '--all-others'), /^2: Specify either the ids/);
    assert.match(await refuseAsAnna('ls', '--all', '--user', 'anna'), /^2: /);
  });

  test('end all sessions of a user, including the current session', async () => {
    assert.match(
      await testbed.runOk('session', 'revoke', '--user', 'anna', '--profile', 'anna'),
      /^Sessions ended: \d\.\n$/,
    );
    assert.match(await testbed.runRefused('session', 'ls', '--profile', 'anna'), /^3: /);
  });
});
