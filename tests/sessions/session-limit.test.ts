/** ESPALIER_MAX_SESSIONS_PER_USER: a login beyond the limit ends the least recently used session of the user. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import { lockForChange } from '../../server/src/journal/journal.ts';
import { databaseKinds } from '../support/databases.ts';
import { PeopleTestbed, type Person } from '../people/people-testbed.ts';
import { withDatabase } from '../support/stored-rows.ts';

for (const kind of databaseKinds) {
  describe(`the session limit on ${kind.name}`, () => {
    let people: PeopleTestbed;
    let onCredentialsRead = () => {};
    before(async () => {
      people = await PeopleTestbed.start(kind, {
        settings: { MAX_SESSIONS_PER_USER: '3' },
        onStatement: (text) => {
          if (text.includes('password_hash as "passwordHash", disabled_at')) onCredentialsRead();
        },
      });
    });
    after(() => people.stop());

    const logIn = async (person: Person) => {
      people.server.clock.advanceSeconds(1);
      return people.logIn(person);
    };
    const isAlive = async ({ authToken }: LoginResponse) =>
      (await people.server.query('{__typename}', authToken)).status === 200;
    const countSessions = async ({ id }: Person) => {
      const query = 'query($id: ID){user(id: $id){sessions{totalCount}}}';
      const { user } = await people.query<{ user: { sessions: { totalCount: number } } }>(query, { id });
      return user.sessions.totalCount;
    };

    test('ends only the least recently used session, with its auth token', async () => {
      const person = await people.createUser();
      const bystander = await people.logIn(await people.createUser());
      const [first, second, third] = [await logIn(person), await logIn(person), await logIn(person)];
      people.server.clock.advanceSeconds(1);
      const refreshed = (await people.server.refresh(first)).json<LoginResponse>();
      const fourth = await logIn(person);
      assert.equal(await isAlive(second), false);
      assert.equal((await people.server.refresh(second)).status, 401);
      for (const tokens of [refreshed, third, fourth, bystander]) assert.ok(await isAlive(tokens));
      assert.equal(await countSessions(person), 3);
    });

    test('records the ended session and the reason in the journal', async () => {
      const person = await people.createUser();
      const first = await logIn(person);
      const { viewer } = await people.query<{ viewer: { session: { id: string } } }>(
        '{viewer{session{id}}}',
        {},
        first.authToken,
      );
      for (let count = 0; count < 3; count++) await logIn(person);
      const query = `query($userId: ID){journal(filter: {userId: $userId, kinds: [END_SESSION]}){
        items{byId sessionId after}}}`;
      assert.deepEqual(await people.query(query, { userId: person.id }), {
        journal: { items: [{ byId: null, sessionId: viewer.session.id, after: { because: 'limit' } }] },
      });
    });

    test('does not count sessions that were logged out', async () => {
      const person = await people.createUser();
      const [first, second, third] = [await logIn(person), await logIn(person), await logIn(person)];
      await people.server.post('/logout', {}, third.authToken);
      const fourth = await logIn(person);
      for (const tokens of [first, second, fourth]) assert.ok(await isAlive(tokens));
    });

    test('ends no session for a refused login', async () => {
      const person = await people.createUser();
      const tokenPairs = [await logIn(person), await logIn(person), await logIn(person)];
      const refused = await people.server.post('/login', {
        username: person.username,
        password: 'not that one',
      });
      assert.equal(refused.status, 401);
      for (const tokens of tokenPairs) assert.ok(await isAlive(tokens));
    });

    test('is not exceeded by logins that wait for the same lock', async () => {
      const person = await people.createUser();
      await logIn(person);
      await logIn(person);
      const { promise: areBothRunning, resolve } = Promise.withResolvers<void>();
      let reads = 0;
      onCredentialsRead = () => {
        if (++reads === 2) resolve();
      };
      // While another transaction holds the lock, both logins read the credentials and then wait for the lock.
      const racing = await withDatabase(people.server.database.url, (database) =>
        database.transaction(async (transaction) => {
          await lockForChange(transaction);
          const logins = [people.logIn(person), people.logIn(person)];
          await areBothRunning;
          return { logins };
        }),
      );
      const tokenPairs = await Promise.all(racing.logins);
      assert.equal(await countSessions(person), 3);
      for (const tokens of tokenPairs) assert.ok(await isAlive(tokens));
    });
  });

  describe(`a session limit that is set later on ${kind.name}`, () => {
    test('takes effect at the next login, with one journal entry', async () => {
      const people = await PeopleTestbed.start(kind);
      const person = await people.createUser();
      for (let count = 0; count < 5; count++) {
        people.server.clock.advanceSeconds(1);
        await people.logIn(person);
      }
      const limited = await PeopleTestbed.start(kind, {
        settings: { MAX_SESSIONS_PER_USER: '2' },
        database: people.server.database,
        clock: people.server.clock,
      });
      people.server.clock.advanceSeconds(1);
      await limited.logIn(person);
      const query = `query($id: ID, $userId: ID){user(id: $id){sessions{totalCount}}
        journal(filter: {userId: $userId, kinds: [END_SESSION]}){items{sessionId after}}}`;
      assert.deepEqual(await limited.query(query, { id: person.id, userId: person.id }), {
        user: { sessions: { totalCount: 2 } },
        journal: { items: [{ sessionId: null, after: { because: 'limit', count: 4 } }] },
      });
      await limited.stop();
      await people.stop();
    });

    test('is not set by default', async () => {
      const people = await PeopleTestbed.start(kind);
      const person = await people.createUser();
      const first = await people.logIn(person);
      for (let count = 0; count < 60; count++) await people.logIn(person);
      assert.equal((await people.server.refresh(first)).status, 200);
      await people.stop();
    });
  });
}
