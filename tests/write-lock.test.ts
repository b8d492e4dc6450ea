/**
 * Token requests that cannot succeed never wait for the write lock: strangers could otherwise fill the queue of the
 * writers. Requests that can succeed are decided by one conditional write.
 */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import type { LoginResponse } from '@espalier/contract';
import type { Transaction } from '../server/src/database/database.ts';
import { sql } from '../server/src/database/statement.ts';
import { takeTurn } from '../server/src/journal/journal.ts';
import { digestOf } from '../server/src/sessions/refresh-token.ts';
import { databaseKinds, postgres } from './databases.ts';
import { eventually } from './eventually.ts';
import { withDatabase } from './stored-rows.ts';
import { administrator, Testbed, type Answer } from './testbed.ts';

const rotate = sql<{ old: Uint8Array; next: Uint8Array }>`
  update sessions set refresh_digest = ${'next'} where refresh_digest = ${'old'}`;

const statusesOf = async (answers: readonly Promise<Answer>[]) =>
  (await Promise.all(answers)).map(({ status }) => status);
const times = (count: number, send: () => Promise<Answer>) => Array.from({ length: count }, send);

for (const kind of databaseKinds) {
  describe(`the write lock on ${kind.name}`, () => {
    const withBed = async (
      settings: Record<string, string>,
      work: (bed: Testbed, statements: string[]) => Promise<void>,
    ) => {
      const statements: string[] = [];
      const onStatement = (text: string) => void statements.push(text.trim().replace(/\s+/g, ' '));
      const bed = await Testbed.start(kind, { settings, onStatement });
      try {
        await work(bed, statements);
      } finally {
        await bed.stop();
      }
    };

    /** Runs `meanwhile` while another process holds every lock that a write to sessions needs. */
    const whileLocked = (
      bed: Testbed,
      meanwhile: () => Promise<void>,
      beforeCommit: (transaction: Transaction) => Promise<unknown> = () => Promise.resolve(),
    ) =>
      withDatabase(bed.database.url, (database) =>
        database.transaction(async (transaction) => {
          await takeTurn(transaction);
          // SQLite has one lock for everything, and the transaction has it.
          if (kind === postgres) {
            await transaction.define('lock table sessions, spent_refresh_tokens in exclusive mode');
          }
          await meanwhile();
          await beforeCommit(transaction);
        }),
      );

    const logOut = (bed: Testbed, refreshToken: string) => bed.post('/logout', { refreshToken });

    test('logouts with unknown, spent, revoked and expired refresh tokens do not wait for it', () =>
      withBed({ REFRESH_TOKEN_SECONDS: '100' }, async (bed) => {
        const expired = await bed.logIn();
        bed.clock.advanceSeconds(100);
        const spent = await bed.logIn();
        await bed.refresh(spent);
        const revoked = await bed.logIn();
        assert.equal((await logOut(bed, revoked.refreshToken)).status, 204);
        await whileLocked(bed, async () => {
          const useless = [spent, revoked, expired].map(({ refreshToken }) => logOut(bed, refreshToken));
          const unknown = times(30, () => logOut(bed, randomUUID()));
          assert.deepEqual(
            new Set(await statusesOf([...useless, ...unknown, logOut(bed, 'not a UUID')])),
            new Set([400]),
          );
        });
      }));

    test('a logout with a known refresh token waits for it and succeeds', () =>
      withBed({}, async (bed, statements) => {
        const { refreshToken, authToken } = await bed.logIn();
        const answered: number[] = [];
        let logout: Promise<unknown> | undefined;
        await whileLocked(bed, async () => {
          statements.length = 0;
          logout = logOut(bed, refreshToken).then(({ status }) => answered.push(status));
          await eventually(() => statements.length > 0, 'the token is looked up');
          assert.equal((await logOut(bed, randomUUID())).status, 400);
          assert.deepEqual(answered, []);
        });
        await logout;
        assert.deepEqual(answered, [204]);
        assert.equal((await bed.refresh({ authToken, refreshToken })).status, 401);
      }));

    test('a second logout with the same auth token does not wait for it', () =>
      withBed({}, async (bed) => {
        const { authToken } = await bed.logIn();
        assert.equal((await bed.post('/logout', {}, authToken)).status, 204);
        await whileLocked(bed, async () => {
          assert.equal((await bed.post('/logout', {}, authToken)).status, 204);
        });
      }));

    test('refreshes with unknown, spent, revoked, expired and foreign refresh tokens do not wait for it', () =>
      withBed({ REFRESH_TOKEN_SECONDS: '100' }, async (bed) => {
        const expired = await bed.logIn();
        bed.clock.advanceSeconds(100);
        const spent = await bed.logIn();
        const current = (await bed.refresh(spent)).json<LoginResponse>();
        const revoked = await bed.logIn();
        assert.equal((await logOut(bed, revoked.refreshToken)).status, 204);
        const { authToken } = await bed.logIn();
        await whileLocked(bed, async () => {
          const useless = [spent, revoked, expired, { ...current, authToken }].map((pair) =>
            bed.refresh(pair),
          );
          const unknown = times(30, () => bed.refresh({ authToken, refreshToken: randomUUID() }));
          assert.deepEqual(new Set(await statusesOf([...useless, ...unknown])), new Set([401]));
        });
        assert.equal((await bed.refresh(current)).status, 200);
      }));

    test('a refresh that is sent again gets its successor without waiting for it', () =>
      withBed({ REFRESH_RETRY_SECONDS: '30' }, async (bed) => {
        const old = await bed.logIn();
        const { refreshToken } = (await bed.refresh(old)).json<LoginResponse>();
        await whileLocked(bed, async () => {
          assert.equal((await bed.refresh(old)).json<LoginResponse>().refreshToken, refreshToken);
        });
      }));

    // SQLite has one lock for all writes. A failed login must be counted, and so it waits there.
    if (kind === postgres) {
      test('failed logins do not wait for changes of the tree, and neither do successful ones', () =>
        withBed({}, (bed) =>
          withDatabase(bed.database.url, (database) =>
            database.transaction(async (transaction) => {
              await takeTurn(transaction);
              const unknown = { ...administrator, username: 'nobody' };
              assert.equal((await bed.post('/login', unknown)).status, 401);
              assert.equal((await bed.post('/login', administrator)).status, 200);
            }),
          ),
        ));
    }

    const spentMeanwhile = {
      'a logout': {
        send: (bed: Testbed, { refreshToken }: LoginResponse) => logOut(bed, refreshToken),
        lookup: 'from sessions where refresh_digest',
        status: 400,
      },
      'a refresh': {
        send: (bed: Testbed, pair: LoginResponse) => bed.refresh(pair),
        lookup: 'from sessions where id',
        status: 401,
      },
    };
    for (const [title, { send, lookup, status }] of Object.entries(spentMeanwhile)) {
      test(`${title} is refused if the refresh token is spent between its look-up and its write`, () =>
        withBed({}, async (bed, statements) => {
          const pair = await bed.logIn();
          const next = randomUUID();
          let answer: Promise<Answer> | undefined;
          await whileLocked(
            bed,
            async () => {
              statements.length = 0;
              answer = send(bed, pair);
              await eventually(
                () => statements.some((text) => text.startsWith('select') && text.includes(lookup)),
                'the token is looked up',
              );
            },
            async (transaction) =>
              transaction.run(rotate, { old: digestOf(pair.refreshToken), next: digestOf(next) }),
          );
          assert.equal((await answer!).status, status);
          assert.equal((await bed.refresh({ ...pair, refreshToken: next })).status, 200);
        }));
    }
  });
}
