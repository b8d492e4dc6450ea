/**
 * Ending a session invalidates its auth token: immediately on the node that ends it, and soon on all others.
 * A plain logout does not invalidate the auth token, as the contract requires.
 */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { LoginResponse } from '@espalier/contract';
import { databaseKinds } from '../support/databases.ts';
import { PeopleTestbed, type Person } from '../people/people-testbed.ts';
import { lockForChange, recordEach } from '../../server/src/journal/journal.ts';
import { pruneJournal } from '../../server/src/journal/prune.ts';
import { revokeUserSessions } from '../../server/src/sessions/revocation.ts';
import { withDatabase } from '../support/stored-rows.ts';
import { Testbed } from '../support/testbed.ts';

for (const kind of databaseKinds) {
  describe(`ended sessions on ${kind.name}`, () => {
    let people: PeopleTestbed;
    let otherNode: Testbed;
    let person: Person;
    let tokens: LoginResponse;

    before(async () => {
      people = await PeopleTestbed.start(kind);
      const { database, clock } = people.server;
      otherNode = await Testbed.start(kind, { database, clock });
    });
    after(async () => {
      await otherNode.stop();
      await people.stop();
    });

    const readStatuses = async (testbed: Testbed, { authToken }: LoginResponse) => ({
      graph: (await testbed.query('{__typename}', authToken)).status,
      verify: (await testbed.post('/login/verify', { authToken })).status,
    });
    const validStatuses = { graph: 200, verify: 204 };
    const invalidStatuses = { graph: 401, verify: 400 };
    const sessionId = () =>
      (JSON.parse(Buffer.from(tokens.authToken.split('.')[1]!, 'base64url').toString()) as { sid: string })
        .sid;

    const endings: Record<string, () => Promise<unknown>> = {
      'revoked by an administrator': () => people.mutate('revokeSession', { id: sessionId() }),
      'revoked with the other sessions of its user': async () => {
        const { authToken } = await people.logIn(person);
        await people.mutate('revokeSessions', { keepCurrent: true }, '__typename', authToken);
      },
      'revoked by its own user with all sessions': () =>
        people.mutate('revokeSessions', {}, '__typename', tokens.authToken),
      'of a user whose password was reset': () =>
        people.mutate('resetPassword', { userId: person.id, password: 'a cabin of walnut' }),
      'of a user who was disabled': () => people.mutate('updateUser', { id: person.id, isDisabled: true }),
      'of a user who was disabled and enabled again': async () => {
        await people.mutate('updateUser', { id: person.id, isDisabled: true });
        await people.mutate('updateUser', { id: person.id, isDisabled: false });
      },
      'of a user who was deleted': () => people.mutate('deleteUser', { id: person.id }),
      'revoked after it was logged out': async () => {
        await people.server.post('/logout', {}, tokens.authToken);
        await people.mutate('revokeSessions', { userId: person.id });
      },
    };

    for (const [name, end] of Object.entries(endings)) {
      test(`invalidate a token ${name}: immediately on this node, and soon on the other`, async () => {
        person = await people.createUser();
        tokens = await people.logIn(person);
        assert.deepEqual(await readStatuses(people.server, tokens), validStatuses);
        assert.deepEqual(await readStatuses(otherNode, tokens), validStatuses);
        await end();
        assert.deepEqual(await readStatuses(people.server, tokens), invalidStatuses);
        await eventually(async () =>
          assert.deepEqual(await readStatuses(otherNode, tokens), invalidStatuses),
        );
        const response = await people.server.query('{__typename}', tokens.authToken);
        assert.equal(response.headers.get('token-expired'), null);
        assert.match(response.headers.get('www-authenticate') ?? '', /invalid_token/);
        assert.equal((await people.server.post('/logout', {}, tokens.authToken)).status, 401);
      });
    }

    test('do not include a session after a plain logout, which keeps its auth token valid', async () => {
      person = await people.createUser();
      tokens = await people.logIn(person);
      await people.server.post('/logout', {}, tokens.authToken);
      assert.deepEqual(await readStatuses(people.server, tokens), validStatuses);
      assert.equal((await people.server.refresh(tokens)).status, 401);
    });

    test('do not affect the session that ends all others, or other users', async () => {
      person = await people.createUser();
      const stranger = await people.createUser();
      const theirs = await people.logIn(stranger);
      tokens = await people.logIn(person);
      await people.mutate('revokeSessions', { keepCurrent: true }, '__typename', tokens.authToken);
      assert.deepEqual(await readStatuses(people.server, tokens), validStatuses);
      assert.deepEqual(await readStatuses(people.server, theirs), validStatuses);
      assert.equal((await people.server.refresh(tokens)).status, 200);
    });

    test('include the session of a replayed refresh token, with its auth token', async () => {
      person = await people.createUser();
      const replayedTokens = await people.logIn(person);
      tokens = (await people.server.refresh(replayedTokens)).json<LoginResponse>();
      people.server.clock.advanceSeconds(61);
      assert.equal((await people.server.refresh(replayedTokens)).status, 401);
      assert.deepEqual(await readStatuses(people.server, tokens), invalidStatuses);
    });

    test('are detected by a node that did not read their journal entries before these were pruned', async () => {
      person = await people.createUser();
      tokens = await people.logIn(person);
      const { database, clock } = people.server;
      const now = clock.now();
      await withDatabase(database.url, async (elsewhere) => {
        await elsewhere.transaction(async (transaction) => {
          await lockForChange(transaction);
          const revocation = { because: 'revoked', byUserId: null, now } as const;
          await revokeUserSessions(transaction, { userId: person.id }, revocation);
          const userIds = Array.from({ length: 1_500 }, () => randomUUID());
          recordEach(transaction, { kind: 'ADD_TO_GROUP', now, byUserId: null, userIds });
        });
        await pruneJournal(elsewhere, now, { journalDays: 90, journalEntries: 1_000 });
      });
      await eventually(async () =>
        assert.deepEqual(await readStatuses(people.server, tokens), invalidStatuses),
      );
    });

    test('include the sessions of a deleted user on a node that starts after the journal was pruned', async () => {
      person = await people.createUser();
      tokens = await people.logIn(person);
      await people.mutate('deleteUser', { id: person.id });
      const { database, clock } = people.server;
      await withDatabase(database.url, async (elsewhere) => {
        await pruneJournal(elsewhere, clock.now(), { journalDays: 90, journalEntries: 0 });
      });
      const lateNode = await Testbed.start(kind, { database, clock });
      try {
        assert.deepEqual(await readStatuses(lateNode, tokens), invalidStatuses);
      } finally {
        await lateNode.stop();
      }
    });

    test('are read by a node that starts later, as long as their tokens would be valid', async () => {
      person = await people.createUser();
      tokens = await people.logIn(person);
      await people.mutate('revokeSessions', { userId: person.id });
      people.server.clock.advanceSeconds(300);
      await people.server.purge();
      const { database, clock } = people.server;
      const lateNode = await Testbed.start(kind, { database, clock });
      try {
        assert.deepEqual(await readStatuses(lateNode, tokens), invalidStatuses);
        assert.deepEqual(await readStatuses(people.server, tokens), invalidStatuses);
      } finally {
        await lateNode.stop();
      }
    });
  });
}

for (const kind of databaseKinds) {
  test(`ends a session with an auth token that outlives the refresh token, on ${kind.name}`, async () => {
    const people = await PeopleTestbed.start(kind, { settings: { REFRESH_TOKEN_SECONDS: '2' } });
    try {
      const person = await people.createUser();
      const { authToken } = await people.logIn(person);
      people.server.clock.advanceSeconds(5);
      assert.equal((await people.server.query('{__typename}', authToken)).status, 200);
      await people.mutate('revokeSessions', { userId: person.id });
      assert.equal((await people.server.query('{__typename}', authToken)).status, 401);
    } finally {
      await people.stop();
    }
  });
}

/** Retries the check for about a second. */
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
