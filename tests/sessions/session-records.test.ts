/** The history of a session: its refreshes, its replayed tokens, and the time until the server purges them. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import { databaseKinds } from '../support/databases.ts';
import { countRows } from '../support/stored-rows.ts';
import { administrator, Testbed } from '../support/testbed.ts';

interface Refresh {
  readonly at: string;
  readonly address: string | null;
  readonly agent: string | null;
  readonly replays: number;
  readonly replayedAt: string | null;
  readonly replayAddress: string | null;
  readonly replayAgent: string | null;
}

const daySeconds = 86_400;
const refreshFields = 'refreshes{at address agent replays replayedAt replayAddress replayAgent}';

for (const kind of databaseKinds) {
  describe(`session records on ${kind.name}`, () => {
    let testbed: Testbed;
    before(async () => (testbed = await Testbed.start(kind)));
    after(() => testbed.stop());

    const refresh = async ({ authToken, refreshToken }: LoginResponse, agent: string) =>
      testbed.postRaw('/login/refresh', JSON.stringify({ refreshToken }), {
        'content-type': 'application/json',
        authorization: `Bearer ${authToken}`,
        'user-agent': agent,
      });
    const refreshTokens = async (tokens: LoginResponse, agent: string) =>
      (await refresh(tokens, agent)).json<LoginResponse>();
    const refreshesOf = async ({ authToken }: LoginResponse) =>
      (await testbed.query(`{viewer{session{${refreshFields}}}}`, authToken)).json<{
        data: { viewer: { session: { refreshes: Refresh[] } } };
      }>().data.viewer.session.refreshes;
    const iso = () => new Date(testbed.clock.now()).toISOString();

    test('contain time, address and agent of each refresh, newest first', async () => {
      let tokens = await testbed.logIn();
      assert.deepEqual(await refreshesOf(tokens), []);
      const times: string[] = [];
      for (const agent of ['first', 'second']) {
        testbed.clock.advanceSeconds(60);
        times.unshift(iso());
        tokens = await refreshTokens(tokens, agent);
      }
      const never = { replays: 0, replayedAt: null, replayAddress: null, replayAgent: null };
      assert.deepEqual(await refreshesOf(tokens), [
        { at: times[0], address: '127.0.0.1', agent: 'second', ...never },
        { at: times[1], address: '127.0.0.1', agent: 'first', ...never },
      ]);
      for (let count = 0; count < 25; count++) tokens = await refreshTokens(tokens, 'more');
      assert.equal((await refreshesOf(tokens)).length, 20);
    });

    test('contain the number of replays within the tolerance, after which the session continues', async () => {
      const tokens = await testbed.logIn();
      const next = await refreshTokens(tokens, 'mine');
      for (const [seconds, agent] of [
        [1, 'tab'],
        [58, 'other tab'],
        [1, 'third tab'],
      ] as const) {
        testbed.clock.advanceSeconds(seconds);
        assert.equal((await refresh(tokens, agent)).status, 401);
      }
      await testbed.purge();
      const [seen] = await refreshesOf(next);
      assert.equal(seen!.replays, 3);
      assert.deepEqual([seen!.replayedAt, seen!.replayAgent], [iso(), 'third tab']);
      assert.equal((await refresh(next, 'mine')).status, 200);
    });

    test('include a replay after the tolerance in the journal and the log', async () => {
      const admin = await testbed.logIn();
      const tokens = await testbed.logIn();
      const next = await refreshTokens(tokens, 'mine');
      const spentAt = iso();
      testbed.clock.advanceSeconds(61);
      assert.equal((await refresh(tokens, 'thief')).status, 401);
      assert.equal((await refresh(next, 'mine')).status, 401);
      assert.equal((await testbed.query('{folder{name}}', next.authToken)).status, 401);
      const { items } = (
        await testbed.query(
          '{journal(first: 1, filter: {kinds: [END_SESSION]}){items{byId sessionId user{username} after}}}',
          admin.authToken,
        )
      ).json<{ data: { journal: { items: { sessionId: string }[] } } }>().data.journal;
      assert.deepEqual(items, [
        {
          byId: null,
          sessionId: items[0]!.sessionId,
          user: { username: administrator.username },
          after: { because: 'replay', address: '127.0.0.1', agent: 'thief', spentAt },
        },
      ]);
      const line = testbed.logLines
        .map((text) => JSON.parse(text) as Record<string, unknown>)
        .find((each) => each['sessionId'] === items[0]!.sessionId);
      assert.equal(line!['level'], 40);
      assert.equal(line!['agent'], 'thief');
    });

    test('are purged with their refreshes a week after the session expired or ended', async () => {
      await testbed.stop();
      testbed = await Testbed.start(kind);
      const loggedOutTokens = await testbed.logIn();
      await refreshTokens(loggedOutTokens, 'mine');
      await testbed.post('/logout', {}, loggedOutTokens.authToken);
      const idleTokens = await testbed.logIn();
      const countSessions = async () => (await countRows(testbed.database.url)).sessions;
      testbed.clock.advanceSeconds(7 * daySeconds);
      await testbed.purge();
      assert.equal(await countSessions(), 2);
      testbed.clock.advanceSeconds(1);
      await testbed.purge();
      assert.equal(await countSessions(), 1);
      assert.equal((await countRows(testbed.database.url)).spent_refresh_tokens, 0);
      testbed.clock.advanceSeconds(59 * daySeconds);
      assert.equal((await testbed.refresh(idleTokens)).status, 401);
      await testbed.purge();
      assert.equal(await countSessions(), 1);
      testbed.clock.advanceSeconds(daySeconds);
      await testbed.purge();
      assert.equal(await countSessions(), 0);
    });

    test('are purged together if several sessions have ended', async () => {
      const tokens = await testbed.logIn();
      for (let count = 0; count < 3; count++) await testbed.logIn();
      await testbed.query(
        'mutation{revokeSessions(input: {keepCurrent: true}){endedSessions}}',
        tokens.authToken,
      );
      testbed.clock.advanceSeconds(7 * daySeconds + 1);
      await testbed.purge();
      assert.equal((await countRows(testbed.database.url)).sessions, 1);
    });
  });
}
