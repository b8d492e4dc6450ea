/**
 * Token requests that cannot succeed never wait for the write lock. Otherwise anonymous clients could fill the writer
 * queue. One conditional write decides requests that can succeed.
 */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import type { Transaction } from '../../server/src/database/database.ts';
import { sql } from '../../server/src/database/statement.ts';
import { lockForChange } from '../../server/src/journal/journal.ts';
import { sha256 } from '../../server/src/database/encryption.ts';
import { databaseKinds, postgres } from '../support/databases.ts';
import { eventually } from '../support/eventually.ts';
import { withDatabase } from '../support/stored-rows.ts';
import { administrator, Testbed, type TestResponse } from '../support/testbed.ts';

const replaceRefreshDigest = sql<{ old: Uint8Array; next: Uint8Array }>`
  update sessions set refresh_digest = ${'next'} where refresh_digest = ${'old'}`;

const statusesOf = async (answers: readonly Promise<TestResponse>[]) =>
  (await Promise.all(answers)).map(({ status }) => status);
const repeat = (count: number, send: () => Promise<TestResponse>) => Array.from({ length: count }, send);

for (const kind of databaseKinds) {
  describe(`the write lock on ${kind.name}`, () => {
    const withTestbed = async (
      settings: Record<string, string>,
      work: (testbed: Testbed, statements: string[]) => Promise<void>,
    ) => {
      const statements: string[] = [];
      const onStatement = (text: string) => void statements.push(text.trim().replace(/\s+/g, ' '));
      const testbed = await Testbed.start(kind, { settings, onStatement });
      try {
        await work(testbed, statements);
      } finally {
        await testbed.stop();
      }
    };

    /** Runs `meanwhile` while another process holds every lock that a write to sessions needs. */
    const whileLocked = (
      testbed: Testbed,
      meanwhile: () => Promise<void>,
      beforeCommit: (transaction: Transaction) => Promise<unknown> = () => Promise.resolve(),
    ) =>
      withDatabase(testbed.database.url, (database) =>
        database.transaction(async (transaction) => {
          await lockForChange(transaction);
          // SQLite has a single lock, which the transaction already holds.
          if (kind === postgres) {
            await transaction.define('lock table sessions, spent_refresh_tokens in exclusive mode');
          }
          await meanwhile();
          await beforeCommit(transaction);
        }),
      );

    const logOut = (testbed: Testbed, refreshToken: string) => testbed.post('/logout', { refreshToken });

    test('does not delay logouts with unknown, spent, revoked and expired refresh tokens', () =>
      withTestbed({ REFRESH_TOKEN_SECONDS: '100' }, async (testbed) => {
        const expired = await testbed.logIn();
        testbed.clock.advanceSeconds(100);
        const spent = await testbed.logIn();
        await testbed.refresh(spent);
        const revoked = await testbed.logIn();
        assert.equal((await logOut(testbed, revoked.refreshToken)).status, 204);
        await whileLocked(testbed, async () => {
          const useless = [spent, revoked, expired].map(({ refreshToken }) => logOut(testbed, refreshToken));
          const unknown = repeat(30, () => logOut(testbed, randomUUID()));
          assert.deepEqual(
            new Set(await statusesOf([...useless, ...unknown, logOut(testbed, 'not a UUID')])),
            new Set([400]),
          );
        });
      }));

    test('delays a logout with a valid refresh token, but does not prevent it', () =>
      withTestbed({}, async (testbed, statements) => {
        const { refreshToken, authToken } = await testbed.logIn();
        const answered: number[] = [];
        let logout: Promise<unknown> | undefined;
        await whileLocked(testbed, async () => {
          statements.length = 0;
          logout = logOut(testbed, refreshToken).then(({ status }) => answered.push(status));
          await eventually(() => statements.length > 0, 'the token is looked up');
          assert.equal((await logOut(testbed, randomUUID())).status, 400);
          assert.deepEqual(answered, []);
        });
        await logout;
        assert.deepEqual(answered, [204]);
        assert.equal((await testbed.refresh({ authToken, refreshToken })).status, 401);
      }));

    test('does not delay a second logout with the same auth token', () =>
      withTestbed({}, async (testbed) => {
        const { authToken } = await testbed.logIn();
        assert.equal((await testbed.post('/logout', {}, authToken)).status, 204);
        await whileLocked(testbed, async () => {
          assert.equal((await testbed.post('/logout', {}, authToken)).status, 204);
        });
      }));

    test('does not delay refreshes with unknown, spent, revoked, expired and foreign refresh tokens', () =>
      withTestbed({ REFRESH_TOKEN_SECONDS: '100' }, async (testbed) => {
        const expired = await testbed.logIn();
        testbed.clock.advanceSeconds(100);
        const spent = await testbed.logIn();
        const current = (await testbed.refresh(spent)).json<LoginResponse>();
        const revoked = await testbed.logIn();
        assert.equal((await logOut(testbed, revoked.refreshToken)).status, 204);
        const { authToken } = await testbed.logIn();
        await whileLocked(testbed, async () => {
          const useless = [spent, revoked, expired, { ...current, authToken }].map((tokens) =>
            testbed.refresh(tokens),
          );
          const unknown = repeat(30, () => testbed.refresh({ authToken, refreshToken: randomUUID() }));
          assert.deepEqual(new Set(await statusesOf([...useless, ...unknown])), new Set([401]));
        });
        assert.equal((await testbed.refresh(current)).status, 200);
      }));

    test('does not delay a retried refresh', () =>
      withTestbed({ REFRESH_RETRY_SECONDS: '30' }, async (testbed) => {
        const old = await testbed.logIn();
        const { refreshToken } = (await testbed.refresh(old)).json<LoginResponse>();
        await whileLocked(testbed, async () => {
          assert.equal((await testbed.refresh(old)).json<LoginResponse>().refreshToken, refreshToken);
        });
      }));

    // SQLite has one lock for all writes. A failed login must be counted, so it waits for that lock.
    if (kind === postgres) {
      test('does not delay failed and successful logins during changes of the tree', () =>
        withTestbed({}, (testbed) =>
          withDatabase(testbed.database.url, (database) =>
            database.transaction(async (transaction) => {
              await lockForChange(transaction);
              const unknown = { ...administrator, username: 'nobody' };
              assert.equal((await testbed.post('/login', unknown)).status, 401);
              assert.equal((await testbed.post('/login', administrator)).status, 200);
            }),
          ),
        ));
    }

    const spentMeanwhile = {
      'a logout': {
        send: (testbed: Testbed, { refreshToken }: LoginResponse) => logOut(testbed, refreshToken),
        lookup: 'from sessions where refresh_digest',
        status: 400,
      },
      'a refresh': {
        send: (testbed: Testbed, tokens: LoginResponse) => testbed.refresh(tokens),
        lookup: 'from sessions where id',
        status: 401,
      },
    };
    for (const [title, { send, lookup, status }] of Object.entries(spentMeanwhile)) {
      test(`makes ${title} fail if the refresh token is spent between its read and its write`, () =>
        withTestbed({}, async (testbed, statements) => {
          const tokens = await testbed.logIn();
          const next = randomUUID();
          let answer: Promise<TestResponse> | undefined;
          await whileLocked(
            testbed,
            async () => {
              statements.length = 0;
              answer = send(testbed, tokens);
              await eventually(
                () => statements.some((text) => text.startsWith('select') && text.includes(lookup)),
                'the token is looked up',
              );
            },
            async (transaction) =>
              transaction.run(replaceRefreshDigest, {
                old: sha256(tokens.refreshToken),
                next: sha256(next),
              }),
          );
          assert.equal((await answer!).status, status);
          assert.equal((await testbed.refresh({ ...tokens, refreshToken: next })).status, 200);
        }));
    }
  });
}
