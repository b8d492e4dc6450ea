/** What is kept of sessions: each refresh, each token that came back, and how long. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import { databaseKinds } from './databases.ts';
import { countRows } from './stored-rows.ts';
import { administrator, Testbed } from './testbed.ts';

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
  describe(`records of sessions on ${kind.name}`, () => {
    let bed: Testbed;
    before(async () => (bed = await Testbed.start(kind)));
    after(() => bed.stop());

    const refresh = async ({ authToken, refreshToken }: LoginResponse, agent: string) =>
      bed.postRaw('/login/refresh', JSON.stringify({ refreshToken }), {
        'content-type': 'application/json',
        authorization: `Bearer ${authToken}`,
        'user-agent': agent,
      });
    const refreshed = async (pair: LoginResponse, agent: string) =>
      (await refresh(pair, agent)).json<LoginResponse>();
    const refreshesOf = async ({ authToken }: LoginResponse) =>
      (await bed.query(`{viewer{session{${refreshFields}}}}`, authToken)).json<{
        data: { viewer: { session: { refreshes: Refresh[] } } };
      }>().data.viewer.session.refreshes;
    const iso = () => new Date(bed.clock.now()).toISOString();

    test('each refresh is recorded with when, from where and by what; the newest first', async () => {
      let pair = await bed.logIn();
      assert.deepEqual(await refreshesOf(pair), []);
      const times: string[] = [];
      for (const agent of ['first', 'second']) {
        bed.clock.advanceSeconds(60);
        times.unshift(iso());
        pair = await refreshed(pair, agent);
      }
      const never = { replays: 0, replayedAt: null, replayAddress: null, replayAgent: null };
      assert.deepEqual(await refreshesOf(pair), [
        { at: times[0], address: '127.0.0.1', agent: 'second', ...never },
        { at: times[1], address: '127.0.0.1', agent: 'first', ...never },
      ]);
      for (let count = 0; count < 25; count++) pair = await refreshed(pair, 'more');
      assert.equal((await refreshesOf(pair)).length, 20);
    });

    test('a token that comes back within the tolerance is counted, and the session goes on', async () => {
      const pair = await bed.logIn();
      const next = await refreshed(pair, 'mine');
      for (const [seconds, agent] of [
        [1, 'tab'],
        [58, 'other tab'],
        [1, 'third tab'],
      ] as const) {
        bed.clock.advanceSeconds(seconds);
        assert.equal((await refresh(pair, agent)).status, 401);
      }
      await bed.sweep();
      const [seen] = await refreshesOf(next);
      assert.equal(seen!.replays, 3);
      assert.deepEqual([seen!.replayedAt, seen!.replayAgent], [iso(), 'third tab']);
      assert.equal((await refresh(next, 'mine')).status, 200);
    });

    test('one that comes back later is theft: the session ends, and the journal and the log say who brought it', async () => {
      const admin = await bed.logIn();
      const pair = await bed.logIn();
      const next = await refreshed(pair, 'mine');
      const spentAt = iso();
      bed.clock.advanceSeconds(61);
      assert.equal((await refresh(pair, 'thief')).status, 401);
      assert.equal((await refresh(next, 'mine')).status, 401);
      assert.equal((await bed.query('{folder{name}}', next.authToken)).status, 401);
      const { items } = (
        await bed.query(
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
      const line = bed.logLines
        .map((text) => JSON.parse(text) as Record<string, unknown>)
        .find((each) => each['sessionId'] === items[0]!.sessionId);
      assert.equal(line!['level'], 40);
      assert.equal(line!['agent'], 'thief');
    });

    test('sessions are forgotten a week after they have expired or were ended, with their refreshes', async () => {
      await bed.stop();
      bed = await Testbed.start(kind);
      const out = await bed.logIn();
      await refreshed(out, 'mine');
      await bed.post('/logout', {}, out.authToken);
      const idle = await bed.logIn();
      const kept = async () => (await countRows(bed.database.url)).sessions;
      bed.clock.advanceSeconds(7 * daySeconds);
      await bed.sweep();
      assert.equal(await kept(), 2);
      bed.clock.advanceSeconds(1);
      await bed.sweep();
      assert.equal(await kept(), 1);
      assert.equal((await countRows(bed.database.url)).spent_refresh_tokens, 0);
      bed.clock.advanceSeconds(59 * daySeconds);
      assert.equal((await bed.refresh(idle)).status, 401);
      await bed.sweep();
      assert.equal(await kept(), 1);
      bed.clock.advanceSeconds(daySeconds);
      await bed.sweep();
      assert.equal(await kept(), 0);
    });

    test('however many sessions are over, all of them are forgotten', async () => {
      const pair = await bed.logIn();
      for (let count = 0; count < 3; count++) await bed.logIn();
      await bed.query('mutation{revokeSessions(input: {keepCurrent: true}){endedSessions}}', pair.authToken);
      bed.clock.advanceSeconds(7 * daySeconds + 1);
      await bed.sweep();
      assert.equal((await countRows(bed.database.url)).sessions, 1);
    });
  });
}
