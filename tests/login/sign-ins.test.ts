/** Every login is recorded with its result, and the client cannot observe it. */

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { noPassword } from '../../server/src/accounts/users.ts';
import { sql } from '../../server/src/database/statement.ts';
import { SignIns } from '../../server/src/sessions/sign-ins.ts';
import { databaseKinds } from '../support/databases.ts';
import { disableUser, withDatabase } from '../support/stored-rows.ts';
import { administrator, Testbed, type TestResponse } from '../support/testbed.ts';

interface Row {
  readonly username: string | null;
  readonly hasUser: number;
  readonly hasSession: number;
  readonly method: string;
  readonly result: string;
  readonly address: string | null;
  readonly agent: string | null;
  readonly count: number;
}

const findRows = sql<object, Row>`
  select username, case when user_id is null then 0 else 1 end as "hasUser",
    case when session_id is null then 0 else 1 end as "hasSession",
    method, result, address, agent, count
  from sign_ins order by at, result, username`;

const insertUser = sql<{ username: string; passwordHash: string }>`
  insert into users (id, username, username_key, password_hash, is_administrator, created_at)
  values ('3d1f6c2e-0d57-4f0c-9d54-0a3c2b7f8e11', ${'username'}, ${'username'}, ${'passwordHash'}, 0, 0)`;

for (const kind of databaseKinds) {
  describe(`the record of logins on ${kind.name}`, () => {
    const address = '192.0.2.1';
    let server: Testbed;
    before(async () => {
      server = await Testbed.start(kind, { settings: { TRUST_PROXY: 'true' } });
      const { authToken } = await server.logIn();
      for (const username of ['anna', 'barred']) {
        const mutation = `mutation($input: CreateUserInput!){createUser(input: $input){user{id}}}`;
        const input = { username, password: 'walnut cellar' };
        const response = await server.query(mutation, authToken, { input });
        assert.equal(response.status, 200, response.text);
      }
      await disableUser(server.database.url, 'barred', server.clock.now());
      await withDatabase(server.database.url, (database) =>
        database.transaction((transaction) =>
          transaction.run(insertUser, { username: 'olga', passwordHash: noPassword }),
        ),
      );
    });
    after(() => server.stop());
    beforeEach(async () => {
      // The failures of the previous test must not count.
      server.clock.advanceSeconds(3_600);
      await server.purge();
      await withDatabase(server.database.url, (database) =>
        database.transaction((transaction) => transaction.run(sql`delete from sign_ins`, {})),
      );
    });

    const logIn = (username: string, password: string, agent = 'test/1') =>
      server.postRaw('/login', JSON.stringify({ username, password }), {
        'content-type': 'application/json',
        'x-forwarded-for': address,
        'user-agent': agent,
      });
    const readRows = () => withDatabase(server.database.url, async (database) => database.all(findRows, {}));
    const readStored = async () => {
      await server.purge();
      return readRows();
    };
    const bodyOf = ({ text }: TestResponse) => text.replace(/"requestId":"[^"]*"/, '');
    const failed: Row = {
      username: null,
      hasUser: 0,
      hasSession: 0,
      method: 'PASSWORD',
      result: 'WRONG_CREDENTIALS',
      address,
      agent: 'test/1',
      count: 1,
    };

    test('contains a successful login as soon as the response arrives', async () => {
      assert.equal((await logIn('Anna', 'walnut cellar')).status, 200);
      const success = { ...failed, username: 'anna', hasUser: 1, hasSession: 1, result: 'SUCCESS' };
      assert.deepEqual(await readRows(), [success]);
    });

    test('contains wrong passwords and disabled users, and the responses do not differ', async () => {
      const responses = [
        await logIn('ANNA', 'wrong'),
        await logIn('barred', 'wrong'),
        await logIn('barred', 'walnut cellar'),
        await logIn('nobody', 'walnut cellar'),
        await logIn('olga', ''),
      ];
      for (const response of responses) {
        assert.equal(response.status, 401);
        assert.deepEqual(bodyOf(response), bodyOf(responses[0]!));
      }
      const rows = await readStored();
      const known = { ...failed, hasUser: 1 };
      const expected = [
        { ...known, username: 'anna' },
        { ...known, username: 'barred' },
        { ...known, username: 'barred', result: 'DISABLED' },
        failed,
        { ...known, username: 'olga' },
      ];
      const sort = (list: readonly Row[]) => list.map((row) => JSON.stringify(row)).toSorted();
      assert.deepEqual(sort(rows.map((row) => ({ ...row }))), sort(expected));
    });

    test('never contains an attempted name that no user has, because it may be a password', async () => {
      await logIn('my secret password', 'anna');
      await logIn('a\nb', 'anna');
      await logIn('x'.repeat(10_000), 'anna');
      assert.deepEqual(await readStored(), [failed, failed, failed]);
    });

    test('limits the user agent', async () => {
      await logIn('anna', 'wrong', 'a'.repeat(3_000));
      const [row] = await readStored();
      assert.equal(row!.agent, 'a'.repeat(255));
    });

    test('stores texts without control characters, which PostgreSQL cannot store', async () => {
      await withDatabase(server.database.url, async (database) => {
        const signIns = new SignIns({ database, clock: server.clock });
        const hostile = 'a\u0000b\ud800';
        signIns.record({
          ...{ userId: null, username: hostile, method: 'SINGLE_SIGN_ON', result: 'REFUSED' },
          ...{ address, agent: hostile, detail: hostile },
        });
        await signIns.store();
      });
      const [row] = await readRows();
      assert.deepEqual([row!.agent, row!.username], ['a b\ufffd', null]);
    });

    test('counts a flood of wrong passwords and of refused attempts in few rows', async () => {
      const responses = [];
      for (let count = 0; count < 100; count++) responses.push(await logIn('anna', 'wrong'));
      const statuses = responses.map(({ status }) => status);
      assert.ok(statuses.includes(401) && statuses.includes(429));
      const rows = await readStored();
      assert.ok(rows.length <= 32, `${rows.length} rows`);
      assert.equal(
        rows.reduce((sum, { count }) => sum + count, 0),
        100,
      );
      assert.ok(rows.some(({ result, username }) => result === 'THROTTLED' && username === 'anna'));
    });

    test('contains a login with the name of the administrator', async () => {
      await logIn(administrator.username, 'wrong');
      assert.deepEqual(await readStored(), [{ ...failed, hasUser: 1, username: administrator.username }]);
    });

    test('contains the last failed attempts before a stop', async () => {
      const database = await kind.createForServer();
      const other = await Testbed.start(kind, { database });
      try {
        const guess = JSON.stringify({ username: administrator.username, password: 'wrong' });
        await other.postRaw('/login', guess, { 'content-type': 'application/json' });
        await other.stop();
        const rows = await withDatabase(database.url, async (opened) => opened.all(findRows, {}));
        assert.deepEqual(
          rows.map(({ username, result }) => [username, result]),
          [[administrator.username, 'WRONG_CREDENTIALS']],
        );
      } finally {
        await database.remove();
      }
    });
  });
}
