/** The token lifecycle beyond the defaults of the contract: settings, restarts, several processes, disabled users. */

import assert from 'node:assert/strict';
import { createPublicKey } from 'node:crypto';
import { describe, test } from 'node:test';
import { jwtVerify } from 'jose';
import type { LoginResponse } from '@espalier/contract';
import { databaseKinds } from '../support/databases.ts';
import { disableUser, readPrivateKeys, withDatabase } from '../support/stored-rows.ts';
import { administrator, problemOf, Testbed, TestClock, type TestbedOptions } from '../support/testbed.ts';
import { sql } from '../../server/src/database/statement.ts';

for (const kind of databaseKinds) {
  const withTestbed = async (options: TestbedOptions, work: (testbed: Testbed) => Promise<void>) => {
    const testbed = await Testbed.start(kind, options);
    try {
      await work(testbed);
    } finally {
      await testbed.stop();
    }
  };

  describe(`sessions on ${kind.name}`, () => {
    test('have configurable lifetimes and a correct expires_in', () =>
      withTestbed({ settings: { AUTH_TOKEN_SECONDS: '5', REFRESH_TOKEN_SECONDS: '20' } }, async (testbed) => {
        const tokens = await testbed.logIn();
        assert.equal(tokens.expires_in, 5);
        testbed.clock.advanceSeconds(5);
        assert.equal(
          (await testbed.query('{folder{name}}', tokens.authToken)).headers.get('token-expired'),
          'true',
        );
        const next = (await testbed.refresh(tokens)).json<LoginResponse>();
        assert.equal(next.expires_in, 5);
        testbed.clock.advanceSeconds(20);
        assert.equal((await testbed.refresh(next)).status, 401);
      }));

    test('have auth tokens that are valid for exactly 600 seconds', () =>
      withTestbed({}, async (testbed) => {
        testbed.clock.advanceSeconds(0.789);
        const { authToken } = await testbed.logIn();
        testbed.clock.advanceSeconds(599.999);
        assert.equal((await testbed.query('{folder{name}}', authToken)).status, 200);
        testbed.clock.advanceSeconds(0.001);
        assert.equal((await testbed.query('{folder{name}}', authToken)).headers.get('token-expired'), 'true');
      }));

    test('have auth tokens that an independent JWT library verifies', () =>
      withTestbed({ settings: { ISSUER: 'https://tree.example' } }, async (testbed) => {
        testbed.clock.advanceSeconds(0.789);
        const { authToken } = await testbed.logIn();
        const [privateKey] = await readPrivateKeys(testbed.database.url);
        const { payload } = await jwtVerify(authToken, createPublicKey(privateKey!), {
          algorithms: ['EdDSA'],
          typ: 'at+jwt',
          issuer: 'https://tree.example',
          currentDate: new Date(testbed.clock.now()),
        });
        assert.equal(payload.exp! - payload.iat!, 600);
      }));

    test('survive a restart and are valid in a second process', async () => {
      const database = await kind.create();
      const clock = new TestClock();
      let tokens: LoginResponse;
      await withTestbed({ database, clock }, async (testbed) => {
        tokens = await testbed.logIn();
      });
      await withTestbed({ database, clock }, (one) =>
        withTestbed({ database, clock }, async (two) => {
          assert.equal((await one.query('{folder{name}}', tokens.authToken)).status, 200);
          assert.equal((await two.query('{folder{name}}', tokens.authToken)).status, 200);
          const next = (await one.refresh(tokens)).json<LoginResponse>();
          assert.equal((await two.refresh(tokens)).status, 401);
          assert.equal((await two.query('{folder{name}}', next.authToken)).status, 200);
          assert.equal((await two.post('/logout', {}, next.authToken)).status, 204);
          assert.equal((await one.refresh(next)).status, 401);
        }),
      );
      await database.remove();
    });

    test('allow only one of several refreshes with the same token in two processes', async () => {
      const database = await kind.create();
      const clock = new TestClock();
      await withTestbed({ database, clock }, (one) =>
        withTestbed({ database, clock }, async (two) => {
          let tokens = await one.logIn();
          for (let round = 0; round < 50; round++) {
            const racing = Array.from({ length: 10 }, (_, index) => (index % 2 ? one : two).refresh(tokens));
            const won = (await Promise.all(racing)).filter(({ status }) => status === 200);
            assert.equal(won.length, 1);
            tokens = won[0]!.json<LoginResponse>();
          }
        }),
      );
      await database.remove();
    });

    test('have invalid, not expired, auth tokens after a change of the issuer', async () => {
      const database = await kind.create();
      const clock = new TestClock();
      let tokens: LoginResponse;
      await withTestbed({ database, clock }, async (testbed) => {
        tokens = await testbed.logIn();
      });
      await withTestbed(
        { database, clock, settings: { ISSUER: 'https://elsewhere.example' } },
        async (testbed) => {
          clock.advanceSeconds(601);
          const answer = await testbed.query('{folder{name}}', tokens.authToken);
          assert.equal(answer.status, 401);
          assert.equal(answer.headers.get('token-expired'), null);
        },
      );
      await database.remove();
    });

    test('do not start for an unknown user, a wrong password or a disabled user, with the same response', () =>
      withTestbed({}, async (testbed) => {
        const shape = async (credentials: { username: string; password: string }) => {
          const answer = await testbed.post('/login', credentials);
          const { requestId, ...problem } = problemOf(answer);
          assert.match(requestId, /./);
          const headers: Record<string, string> = Object.fromEntries(answer.headers);
          delete headers['date'];
          return { status: answer.status, headers, problem };
        };
        const unknown = await shape({ username: 'nobody', password: administrator.password });
        const wrong = await shape({ username: administrator.username, password: 'walnut cellar' });
        assert.equal((await testbed.post('/login', administrator)).status, 200);
        await disableUser(testbed.database.url, administrator.username, testbed.clock.now());
        const disabled = await shape(administrator);
        assert.equal(unknown.status, 401);
        assert.deepEqual(wrong, unknown);
        assert.deepEqual(disabled, unknown);
      }));

    test('end after a replay with a clock that is more than 60 seconds behind', () =>
      withTestbed({}, async (testbed) => {
        for (const [setBackSeconds, status] of [
          [60, 200],
          [60.001, 401],
        ] as const) {
          const old = await testbed.logIn();
          testbed.clock.advanceSeconds(300);
          const current = (await testbed.refresh(old)).json<LoginResponse>();
          testbed.clock.advanceSeconds(-setBackSeconds);
          assert.equal((await testbed.refresh(old)).status, 401);
          testbed.clock.advanceSeconds(setBackSeconds);
          assert.equal((await testbed.refresh(current)).status, status);
        }
      }));

    test('start for each of 40 concurrent logins, while the server also answers queries', () =>
      withTestbed({}, async (testbed) => {
        const { authToken } = await testbed.logIn();
        const logins = Array.from({ length: 40 }, () => testbed.post('/login', administrator));
        assert.equal((await testbed.query('{folder{name}}', authToken)).status, 200);
        const statuses = (await Promise.all(logins)).map(({ status }) => status);
        assert.deepEqual(new Set(statuses), new Set([200]));
      }));

    test('are stored without tokens and passwords in plain text', () =>
      withTestbed({ settings: { REFRESH_RETRY_SECONDS: '30' } }, async (testbed) => {
        const old = await testbed.logIn();
        const tokens = (await testbed.refresh(old)).json<LoginResponse>();
        const everything = JSON.stringify(await readStoredCredentials(testbed.database.url));
        const secrets = [old, tokens].flatMap(({ authToken, refreshToken }) => [authToken, refreshToken]);
        for (const secret of [...secrets, administrator.password]) {
          assert.ok(!everything.includes(secret));
          assert.ok(!everything.includes(Buffer.from(secret).toString('hex')));
        }
      }));
  });

  describe(`a refresh retry after a lost response, on ${kind.name}`, () => {
    const withRetry = (work: (testbed: Testbed) => Promise<void>) =>
      withTestbed({ settings: { REFRESH_RETRY_SECONDS: '30' } }, work);

    test('returns the same new tokens each time it receives the same old tokens', () =>
      withRetry(async (testbed) => {
        const old = await testbed.logIn();
        const first = (await testbed.refresh(old)).json<LoginResponse>();
        testbed.clock.advanceSeconds(30);
        for (let attempt = 0; attempt < 3; attempt++) {
          const again = (await testbed.refresh(old)).json<LoginResponse>();
          assert.equal(again.authToken, first.authToken);
          assert.equal(again.refreshToken, first.refreshToken);
          assert.equal(again.expires_in, 570);
        }
        assert.equal((await testbed.refresh(first)).status, 200);
      }));

    test('works after the new auth token has expired and the replay tolerance has passed', () =>
      withTestbed(
        {
          settings: { REFRESH_RETRY_SECONDS: '60', REUSE_TOLERANCE_SECONDS: '2', AUTH_TOKEN_SECONDS: '2' },
        },
        async (testbed) => {
          const old = await testbed.logIn();
          const first = (await testbed.refresh(old)).json<LoginResponse>();
          testbed.clock.advanceSeconds(30);
          const again = (await testbed.refresh(old)).json<LoginResponse>();
          assert.deepEqual(again, { ...first, expires_in: 0 });
          assert.equal((await testbed.refresh(first)).status, 200);
        },
      ));

    test('returns the same new tokens to concurrent refreshes', () =>
      withRetry(async (testbed) => {
        const old = await testbed.logIn();
        const answers = await Promise.all(Array.from({ length: 20 }, () => testbed.refresh(old)));
        assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
        assert.equal(new Set(answers.map((answer) => answer.json<LoginResponse>().refreshToken)).size, 1);
      }));

    test('is refused after a purge that ran while the clock was set back', () =>
      withRetry(async (testbed) => {
        const old = await testbed.logIn();
        const first = (await testbed.refresh(old)).json<LoginResponse>();
        testbed.clock.advanceSeconds(-0.001);
        assert.equal((await testbed.refresh(old)).status, 401, 'a negative age');
        testbed.clock.advanceSeconds(0.001);
        assert.equal((await testbed.refresh(old)).status, 200);
        testbed.clock.advanceSeconds(-31);
        await testbed.purge();
        testbed.clock.advanceSeconds(31);
        assert.equal((await testbed.refresh(old)).status, 401, 'the successor has been erased');
        assert.equal((await testbed.refresh(first)).status, 200);
      }));

    test('works after a purge by a node whose clock is ahead by less than the retry window', () =>
      withRetry(async (testbed) => {
        const old = await testbed.logIn();
        await testbed.refresh(old);
        testbed.clock.advanceSeconds(-30);
        await testbed.purge();
        testbed.clock.advanceSeconds(30);
        assert.equal((await testbed.refresh(old)).status, 200);
      }));

    test('is refused with another auth token of the same login', () =>
      withRetry(async (testbed) => {
        const old = await testbed.logIn();
        const first = (await testbed.refresh(old)).json<LoginResponse>();
        assert.equal((await testbed.refresh({ ...first, refreshToken: old.refreshToken })).status, 401);
      }));

    test('is refused after the retry window and after a logout', () =>
      withRetry(async (testbed) => {
        const late = await testbed.logIn();
        await testbed.refresh(late);
        testbed.clock.advanceSeconds(31);
        assert.equal((await testbed.refresh(late)).status, 401);
        const old = await testbed.logIn();
        const first = (await testbed.refresh(old)).json<LoginResponse>();
        assert.equal((await testbed.post('/logout', {}, first.authToken)).status, 204);
        assert.equal((await testbed.refresh(old)).status, 401);
      }));

    test('is impossible after the retry window, when the encrypted new tokens are erased', () =>
      withRetry(async (testbed) => {
        await testbed.refresh(await testbed.logIn());
        const countSuccessors = async () =>
          (await readStoredCredentials(testbed.database.url)).spent.filter((row) => row['successor'] !== null)
            .length;
        assert.equal(await countSuccessors(), 1);
        testbed.clock.advanceSeconds(31);
        await testbed.purge();
        assert.equal(await countSuccessors(), 0);
      }));

    test('is off by default', () =>
      withTestbed({}, async (testbed) => {
        const old = await testbed.logIn();
        await testbed.refresh(old);
        assert.equal((await testbed.refresh(old)).status, 401);
      }));
  });
}

const selectUsers = sql<object, Row>`select username, password_hash from users`;
const selectSessions = sql<object, Row>`select id, refresh_digest from sessions`;
const selectSpentTokens = sql<
  object,
  Row
>`select digest, sealed_successor as successor from spent_refresh_tokens`;

type Row = Record<string, string | Uint8Array | null>;

/** Returns the stored credentials and tokens, with bytes as text and as hexadecimal digits. */
async function readStoredCredentials(url: string) {
  const readable = (row: Row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) =>
        value instanceof Uint8Array
          ? [name, `${Buffer.from(value).toString('latin1')} ${Buffer.from(value).toString('hex')}`]
          : [name, value],
      ),
    );
  return withDatabase(url, async (database) => ({
    users: (await database.all(selectUsers, {})).map(readable),
    sessions: (await database.all(selectSessions, {})).map(readable),
    spent: (await database.all(selectSpentTokens, {})).map(readable),
  }));
}
