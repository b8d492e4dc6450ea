/** The token lifecycle beyond the contract's defaults: settings, restarts, several processes, disabled users. */

import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { describe, test } from 'node:test';
import { jwtVerify } from 'jose';
import type { LoginResponse } from '@espalier/contract';
import { databaseKinds } from './databases.ts';
import { disableUser, readPrivateKeys, withDatabase } from './stored-rows.ts';
import { administrator, problemOf, Testbed, TestClock, type TestbedOptions } from './testbed.ts';
import { sql } from '../server/src/database/statement.ts';

for (const kind of databaseKinds) {
  const withBed = async (options: TestbedOptions, work: (bed: Testbed) => Promise<void>) => {
    const bed = await Testbed.start(kind, options);
    try {
      await work(bed);
    } finally {
      await bed.stop();
    }
  };

  describe(`sessions on ${kind.name}`, () => {
    test('lifetimes are settings, and expires_in tells the truth', () =>
      withBed({ settings: { ACCESS_TOKEN_SECONDS: '5', REFRESH_TOKEN_SECONDS: '20' } }, async (bed) => {
        const pair = await bed.logIn();
        assert.equal(pair.expires_in, 5);
        bed.clock.advanceSeconds(5);
        assert.equal(
          (await bed.query('{folder{name}}', pair.authToken)).headers.get('token-expired'),
          'true',
        );
        const next = (await bed.refresh(pair)).json<LoginResponse>();
        assert.equal(next.expires_in, 5);
        bed.clock.advanceSeconds(20);
        assert.equal((await bed.refresh(next)).status, 401);
      }));

    test('an auth token lives as long as promised to the millisecond, whenever it is made', () =>
      withBed({}, async (bed) => {
        bed.clock.advanceSeconds(0.789);
        const { authToken } = await bed.logIn();
        bed.clock.advanceSeconds(599.999);
        assert.equal((await bed.query('{folder{name}}', authToken)).status, 200);
        bed.clock.advanceSeconds(0.001);
        assert.equal((await bed.query('{folder{name}}', authToken)).headers.get('token-expired'), 'true');
      }));

    test('an auth token verifies with an independent JWT library', () =>
      withBed({ settings: { ISSUER: 'https://tree.example' } }, async (bed) => {
        bed.clock.advanceSeconds(0.789);
        const { authToken } = await bed.logIn();
        const [privateKey] = await readPrivateKeys(bed.database.url);
        const { payload } = await jwtVerify(authToken, createPublicKey(privateKey!), {
          algorithms: ['EdDSA'],
          typ: 'at+jwt',
          issuer: 'https://tree.example',
          currentDate: new Date(bed.clock.now()),
        });
        assert.equal(payload.exp! - payload.iat!, 600);
      }));

    test('a restart keeps tokens good, and a second process honours them too', async () => {
      const database = await kind.create();
      const clock = new TestClock();
      let pair: LoginResponse;
      await withBed({ database, clock }, async (bed) => {
        pair = await bed.logIn();
      });
      await withBed({ database, clock }, (one) =>
        withBed({ database, clock }, async (two) => {
          assert.equal((await one.query('{folder{name}}', pair.authToken)).status, 200);
          assert.equal((await two.query('{folder{name}}', pair.authToken)).status, 200);
          const next = (await one.refresh(pair)).json<LoginResponse>();
          assert.equal((await two.refresh(pair)).status, 401);
          assert.equal((await two.query('{folder{name}}', next.authToken)).status, 200);
          assert.equal((await two.post('/logout', {}, next.authToken)).status, 204);
          assert.equal((await one.refresh(next)).status, 401);
        }),
      );
      await database.remove();
    });

    test('two processes racing for one refresh have one winner', async () => {
      const database = await kind.create();
      const clock = new TestClock();
      await withBed({ database, clock }, (one) =>
        withBed({ database, clock }, async (two) => {
          let pair = await one.logIn();
          for (let round = 0; round < 50; round++) {
            const racing = Array.from({ length: 10 }, (_, place) => (place % 2 ? one : two).refresh(pair));
            const won = (await Promise.all(racing)).filter(({ status }) => status === 200);
            assert.equal(won.length, 1);
            pair = won[0]!.json<LoginResponse>();
          }
        }),
      );
      await database.remove();
    });

    test('another issuer makes issued tokens invalid, not expired', async () => {
      const database = await kind.create();
      const clock = new TestClock();
      let pair: LoginResponse;
      await withBed({ database, clock }, async (bed) => {
        pair = await bed.logIn();
      });
      await withBed({ database, clock, settings: { ISSUER: 'https://elsewhere.example' } }, async (bed) => {
        clock.advanceSeconds(601);
        const answer = await bed.query('{folder{name}}', pair.authToken);
        assert.equal(answer.status, 401);
        assert.equal(answer.headers.get('token-expired'), null);
      });
      await database.remove();
    });

    test('unknown, wrong and disabled are told apart by nothing in the answer', () =>
      withBed({}, async (bed) => {
        const shape = async (credentials: { username: string; password: string }) => {
          const answer = await bed.post('/login', credentials);
          const { requestId, ...problem } = problemOf(answer);
          assert.match(requestId, /./);
          const headers: Record<string, string> = Object.fromEntries(answer.headers);
          delete headers['date'];
          return { status: answer.status, headers, problem };
        };
        const unknown = await shape({ username: 'nobody', password: administrator.password });
        const wrong = await shape({ username: administrator.username, password: 'walnut cellar' });
        assert.equal((await bed.post('/login', administrator)).status, 200);
        await disableUser(bed.database.url, administrator.username, bed.clock.now());
        const disabled = await shape(administrator);
        assert.equal(unknown.status, 401);
        assert.deepEqual(wrong, unknown);
        assert.deepEqual(disabled, unknown);
      }));

    test('a spent token whose age is negative ends its session, unless the clocks of two nodes explain it', () =>
      withBed({}, async (bed) => {
        for (const [setBackSeconds, status] of [
          [60, 200],
          [60.001, 401],
        ] as const) {
          const old = await bed.logIn();
          bed.clock.advanceSeconds(300);
          const current = (await bed.refresh(old)).json<LoginResponse>();
          bed.clock.advanceSeconds(-setBackSeconds);
          assert.equal((await bed.refresh(old)).status, 401);
          bed.clock.advanceSeconds(setBackSeconds);
          assert.equal((await bed.refresh(current)).status, status);
        }
      }));

    test('a burst of correct logins all succeed, and the graph answers meanwhile', () =>
      withBed({}, async (bed) => {
        const { authToken } = await bed.logIn();
        const logins = Array.from({ length: 40 }, () => bed.post('/login', administrator));
        assert.equal((await bed.query('{folder{name}}', authToken)).status, 200);
        const statuses = (await Promise.all(logins)).map(({ status }) => status);
        assert.deepEqual(new Set(statuses), new Set([200]));
      }));

    test('only digests are stored: no token and no password is in the database', () =>
      withBed({ settings: { REFRESH_RETRY_SECONDS: '30' } }, async (bed) => {
        const old = await bed.logIn();
        const pair = (await bed.refresh(old)).json<LoginResponse>();
        const everything = JSON.stringify(await dump(bed.database.url));
        const secrets = [old, pair].flatMap(({ authToken, refreshToken }) => [authToken, refreshToken]);
        for (const secret of [...secrets, administrator.password]) {
          assert.ok(!everything.includes(secret));
          assert.ok(!everything.includes(Buffer.from(secret).toString('hex')));
        }
      }));
  });

  describe(`refreshing again after a lost reply, on ${kind.name}`, () => {
    const withRetry = (work: (bed: Testbed) => Promise<void>) =>
      withBed({ settings: { REFRESH_RETRY_SECONDS: '30' } }, work);

    test('the identical pair gets the identical successor, as often as it asks', () =>
      withRetry(async (bed) => {
        const old = await bed.logIn();
        const first = (await bed.refresh(old)).json<LoginResponse>();
        bed.clock.advanceSeconds(30);
        for (let attempt = 0; attempt < 3; attempt++) {
          const again = (await bed.refresh(old)).json<LoginResponse>();
          assert.equal(again.authToken, first.authToken);
          assert.equal(again.refreshToken, first.refreshToken);
          assert.equal(again.expires_in, 570);
        }
        assert.equal((await bed.refresh(first)).status, 200);
      }));

    test('the window outlasts the auth token of the successor and the tolerance', () =>
      withBed(
        {
          settings: { REFRESH_RETRY_SECONDS: '60', REUSE_TOLERANCE_SECONDS: '2', ACCESS_TOKEN_SECONDS: '2' },
        },
        async (bed) => {
          const old = await bed.logIn();
          const first = (await bed.refresh(old)).json<LoginResponse>();
          bed.clock.advanceSeconds(30);
          const again = (await bed.refresh(old)).json<LoginResponse>();
          assert.deepEqual(again, { ...first, expires_in: 0 });
          assert.equal((await bed.refresh(first)).status, 200);
        },
      ));

    test('racing refreshes all get the same successor', () =>
      withRetry(async (bed) => {
        const old = await bed.logIn();
        const answers = await Promise.all(Array.from({ length: 20 }, () => bed.refresh(old)));
        assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
        assert.equal(new Set(answers.map((answer) => answer.json<LoginResponse>().refreshToken)).size, 1);
      }));

    test('the old pair gets nothing after the clock was set back, also when its time comes again', () =>
      withRetry(async (bed) => {
        const old = await bed.logIn();
        const first = (await bed.refresh(old)).json<LoginResponse>();
        bed.clock.advanceSeconds(-0.001);
        assert.equal((await bed.refresh(old)).status, 401, 'a negative age');
        bed.clock.advanceSeconds(0.001);
        assert.equal((await bed.refresh(old)).status, 200);
        bed.clock.advanceSeconds(-31);
        await bed.sweep();
        bed.clock.advanceSeconds(31);
        assert.equal((await bed.refresh(old)).status, 401, 'the successor has been erased');
        assert.equal((await bed.refresh(first)).status, 200);
      }));

    test('the sweep keeps the successor of a node whose clock is ahead by less than the window', () =>
      withRetry(async (bed) => {
        const old = await bed.logIn();
        await bed.refresh(old);
        bed.clock.advanceSeconds(-30);
        await bed.sweep();
        bed.clock.advanceSeconds(30);
        assert.equal((await bed.refresh(old)).status, 200);
      }));

    test('the old RT with another AT of the same login gets nothing', () =>
      withRetry(async (bed) => {
        const old = await bed.logIn();
        const first = (await bed.refresh(old)).json<LoginResponse>();
        assert.equal((await bed.refresh({ ...first, refreshToken: old.refreshToken })).status, 401);
      }));

    test('after the window, and after a logout, the old pair gets nothing', () =>
      withRetry(async (bed) => {
        const late = await bed.logIn();
        await bed.refresh(late);
        bed.clock.advanceSeconds(31);
        assert.equal((await bed.refresh(late)).status, 401);
        const old = await bed.logIn();
        const first = (await bed.refresh(old)).json<LoginResponse>();
        assert.equal((await bed.post('/logout', {}, first.authToken)).status, 204);
        assert.equal((await bed.refresh(old)).status, 401);
      }));

    test('the sealed successor is erased after the window', () =>
      withRetry(async (bed) => {
        await bed.refresh(await bed.logIn());
        const sealed = async () =>
          (await dump(bed.database.url)).spent.filter((row) => row['successor'] !== null).length;
        assert.equal(await sealed(), 1);
        bed.clock.advanceSeconds(31);
        await bed.sweep();
        assert.equal(await sealed(), 0);
      }));

    test('it is off by default', () =>
      withBed({}, async (bed) => {
        const old = await bed.logIn();
        await bed.refresh(old);
        assert.equal((await bed.refresh(old)).status, 401);
      }));
  });
}

const users = sql<object, Row>`select username, password_hash from users`;
const sessions = sql<object, Row>`select id, refresh_digest from sessions`;
const spent = sql<object, Row>`select digest, sealed_successor as successor from spent_refresh_tokens`;

type Row = Record<string, string | Uint8Array | null>;

/** What is stored of credentials and tokens, bytes as text and as hexadecimal digits. */
async function dump(url: string) {
  const readable = (row: Row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) =>
        value instanceof Uint8Array
          ? [name, `${Buffer.from(value).toString('latin1')} ${Buffer.from(value).toString('hex')}`]
          : [name, value],
      ),
    );
  return withDatabase(url, async (database) => ({
    users: (await database.all(users, {})).map(readable),
    sessions: (await database.all(sessions, {})).map(readable),
    spent: (await database.all(spent, {})).map(readable),
  }));
}
