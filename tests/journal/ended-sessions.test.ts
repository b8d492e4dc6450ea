/** Ending a session reaches its auth token at once, on every node; a plain logout leaves it alone, as the contract says. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { LoginResponse } from '@espalier/contract';
import { databaseKinds } from '../support/databases.ts';
import { PeopleTestbed, type Person } from '../people/people-testbed.ts';
import { recordEach, takeTurn } from '../../server/src/journal/journal.ts';
import { pruneJournal } from '../../server/src/journal/journal.ts';
import { revokeUserSessions } from '../../server/src/sessions/revocation.ts';
import { withDatabase } from '../support/stored-rows.ts';
import { Testbed } from '../support/testbed.ts';

for (const kind of databaseKinds) {
  describe(`sessions that were ended on ${kind.name}`, () => {
    let people: PeopleTestbed;
    let otherNode: Testbed;
    let person: Person;
    let pair: LoginResponse;

    before(async () => {
      people = await PeopleTestbed.start(kind);
      const { database, clock } = people.testbed;
      otherNode = await Testbed.start(kind, { database, clock });
    });
    after(async () => {
      await otherNode.stop();
      await people.stop();
    });

    const outcome = async (bed: Testbed, { authToken }: LoginResponse) => ({
      graph: (await bed.query('{__typename}', authToken)).status,
      verify: (await bed.post('/login/verify', { authToken })).status,
    });
    const good = { graph: 200, verify: 204 };
    const bad = { graph: 401, verify: 400 };
    const sessionId = () =>
      (JSON.parse(Buffer.from(pair.authToken.split('.')[1]!, 'base64url').toString()) as { sid: string }).sid;

    const ways: Record<string, () => Promise<unknown>> = {
      'revoked by an administrator': () => people.mutate('revokeSession', { id: sessionId() }),
      'revoked with all others of its user': async () => {
        const { authToken } = await people.logIn(person);
        await people.mutate('revokeSessions', { keepCurrent: true }, '__typename', authToken);
      },
      'revoked by its own user with all': () =>
        people.mutate('revokeSessions', {}, '__typename', pair.authToken),
      'of a user whose password was reset': () =>
        people.mutate('resetPassword', { userId: person.id, password: 'a cabin of walnut' }),
      'of a user who was disabled': () => people.mutate('updateUser', { id: person.id, isDisabled: true }),
      'of a user who was disabled and enabled again': async () => {
        await people.mutate('updateUser', { id: person.id, isDisabled: true });
        await people.mutate('updateUser', { id: person.id, isDisabled: false });
      },
      'of a user who was deleted': () => people.mutate('deleteUser', { id: person.id }),
      'revoked after it was logged out': async () => {
        await people.testbed.post('/logout', {}, pair.authToken);
        await people.mutate('revokeSessions', { userId: person.id });
      },
    };

    for (const [name, end] of Object.entries(ways)) {
      test(`one ${name} is over at once, and soon on the other node`, async () => {
        person = await people.createUser();
        pair = await people.logIn(person);
        assert.deepEqual(await outcome(people.testbed, pair), good);
        assert.deepEqual(await outcome(otherNode, pair), good);
        await end();
        assert.deepEqual(await outcome(people.testbed, pair), bad);
        await eventually(async () => assert.deepEqual(await outcome(otherNode, pair), bad));
        const answer = await people.testbed.query('{__typename}', pair.authToken);
        assert.equal(answer.headers.get('token-expired'), null);
        assert.match(answer.headers.get('www-authenticate') ?? '', /invalid_token/);
        assert.equal((await people.testbed.post('/logout', {}, pair.authToken)).status, 401);
      });
    }

    test('one that was logged out keeps its auth token until it expires', async () => {
      person = await people.createUser();
      pair = await people.logIn(person);
      await people.testbed.post('/logout', {}, pair.authToken);
      assert.deepEqual(await outcome(people.testbed, pair), good);
      assert.equal((await people.testbed.refresh(pair)).status, 401);
    });

    test('the session that ends all others goes on, and so do those of everybody else', async () => {
      person = await people.createUser();
      const stranger = await people.createUser();
      const theirs = await people.logIn(stranger);
      pair = await people.logIn(person);
      await people.mutate('revokeSessions', { keepCurrent: true }, '__typename', pair.authToken);
      assert.deepEqual(await outcome(people.testbed, pair), good);
      assert.deepEqual(await outcome(people.testbed, theirs), good);
      assert.equal((await people.testbed.refresh(pair)).status, 200);
    });

    test('a stolen refresh token that is replayed ends the session with its auth token', async () => {
      person = await people.createUser();
      const stolen = await people.logIn(person);
      pair = (await people.testbed.refresh(stolen)).json<LoginResponse>();
      people.testbed.clock.advanceSeconds(61);
      assert.equal((await people.testbed.refresh(stolen)).status, 401);
      assert.deepEqual(await outcome(people.testbed, pair), bad);
    });

    test('a node that slept while their entries were forgotten knows them', async () => {
      person = await people.createUser();
      pair = await people.logIn(person);
      const { database, clock } = people.testbed;
      const now = clock.now();
      await withDatabase(database.url, async (elsewhere) => {
        await elsewhere.transaction(async (transaction) => {
          await takeTurn(transaction);
          const revocation = { because: 'revoked', byUserId: null, now } as const;
          await revokeUserSessions(transaction, { userId: person.id }, revocation);
          const userIds = Array.from({ length: 1_500 }, () => randomUUID());
          recordEach(transaction, { kind: 'ADD_TO_GROUP', at: now, byUserId: null, userIds });
        });
        await pruneJournal(elsewhere, now, { journalDays: 90, journalEntries: 1_000 });
      });
      await eventually(async () => assert.deepEqual(await outcome(people.testbed, pair), bad));
    });

    test('a deleted user is known to a node that starts when the journal has forgotten it', async () => {
      person = await people.createUser();
      pair = await people.logIn(person);
      await people.mutate('deleteUser', { id: person.id });
      const { database, clock } = people.testbed;
      await withDatabase(database.url, async (elsewhere) => {
        await pruneJournal(elsewhere, clock.now(), { journalDays: 90, journalEntries: 0 });
      });
      const late = await Testbed.start(kind, { database, clock });
      try {
        assert.deepEqual(await outcome(late, pair), bad);
      } finally {
        await late.stop();
      }
    });

    test('a node that starts later knows them, too, and none is forgotten while its token lives', async () => {
      person = await people.createUser();
      pair = await people.logIn(person);
      await people.mutate('revokeSessions', { userId: person.id });
      people.testbed.clock.advanceSeconds(300);
      await people.testbed.purge();
      const { database, clock } = people.testbed;
      const late = await Testbed.start(kind, { database, clock });
      try {
        assert.deepEqual(await outcome(late, pair), bad);
        assert.deepEqual(await outcome(people.testbed, pair), bad);
      } finally {
        await late.stop();
      }
    });
  });
}

for (const kind of databaseKinds) {
  test(`ending all sessions ends those with an auth token that outlives its refresh token on ${kind.name}`, async () => {
    const people = await PeopleTestbed.start(kind, { settings: { REFRESH_TOKEN_SECONDS: '2' } });
    try {
      const person = await people.createUser();
      const { authToken } = await people.logIn(person);
      people.testbed.clock.advanceSeconds(5);
      assert.equal((await people.testbed.query('{__typename}', authToken)).status, 200);
      await people.mutate('revokeSessions', { userId: person.id });
      assert.equal((await people.testbed.query('{__typename}', authToken)).status, 401);
    } finally {
      await people.stop();
    }
  });
}

/** Tries until it holds, for a second. */
async function eventually(check: () => Promise<void>): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      return await check();
    } catch (error) {
      if (tries === 20) throw error;
      await delay(50);
    }
  }
}
