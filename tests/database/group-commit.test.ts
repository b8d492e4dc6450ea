/** Changes that wait at the same time share a transaction, but each has its own number, refusal and idempotency key. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, test } from 'node:test';
import pg from 'pg';
import { createUser } from '../../server/src/accounts/users.ts';
import { systemClock } from '../../server/src/clock.ts';
import type { Database, Transaction } from '../../server/src/database/database.ts';
import { openDatabase } from '../../server/src/database/open-database.ts';
import { sql } from '../../server/src/database/statement.ts';
import { numberCodec, ChangeRunner, type Caller } from '../../server/src/journal/change-runner.ts';
import { identifyChange } from '../../server/src/journal/idempotency.ts';
import { runChange, readHead, record } from '../../server/src/journal/journal.ts';
import { Refusal } from '../../server/src/refusal.ts';
import { databaseKinds, postgres, type TestDatabase } from '../support/databases.ts';

const selectEntries = sql<object, { number: number; sessionId: string }>`
  select number, session_id as "sessionId" from journal order by number`;

const selectBackend = sql<object, { pid: number }>`select pg_backend_pid() as pid`;

/** A deferred trigger fails when the transaction commits. */
const createFailingTrigger = `
  create function fail_at_commit() returns trigger language plpgsql as $$ begin raise exception 'not this one'; end $$;
  create constraint trigger fail_at_commit after insert on journal deferrable initially deferred
    for each row when (new.session_id = '00000000-0000-4000-8000-00000000dead') execute function fail_at_commit()`;
const failingSessionId = '00000000-0000-4000-8000-00000000dead';

const refusal = () => new Refusal('CONFLICT', 'Refused.');

function errorOf(outcome: PromiseSettledResult<unknown> | undefined): Refusal {
  assert.ok(outcome?.status === 'rejected' && outcome.reason instanceof Refusal);
  return outcome.reason;
}

for (const kind of databaseKinds) {
  describe(`concurrent changes on ${kind.name}`, () => {
    let testDatabase: TestDatabase;
    let database: Database;
    let commits = 0;

    beforeEach(async () => {
      testDatabase = await kind.create();
      database = await openDatabase(testDatabase.url, systemClock, {
        onDuration: (what) => void (commits += what === 'commit' ? 1 : 0),
      });
    });
    afterEach(async () => {
      await database.close();
      await testDatabase.remove();
    });

    /** Writes a journal entry with this session id. */
    const write = (transaction: Transaction, sessionId: string) =>
      record(transaction, { kind: 'END_SESSION', now: 1, byUserId: null, sessionId });

    /** Blocks all other changes until the returned function is called, which also resets the number of commits. */
    async function holdChanges(): Promise<() => Promise<void>> {
      const start = Promise.withResolvers<void>();
      const end = Promise.withResolvers<void>();
      const longChange = runChange(
        database,
        async () => {
          start.resolve();
          await end.promise;
        },
        { takesLong: true },
      );
      await start.promise;
      return async () => {
        end.resolve();
        await longChange;
        commits = 0;
      };
    }

    async function assertConsecutive(expected: readonly string[]): Promise<void> {
      const entries = await database.all(selectEntries, {});
      assert.deepEqual(
        entries.map(({ sessionId }) => sessionId),
        expected,
      );
      const { number: last } = await readHead(database);
      assert.deepEqual(
        entries.map(({ number }) => number),
        expected.map((_, index) => last - expected.length + 1 + index),
      );
    }

    test('share a commit, and a refused change in the middle leaves neither a row nor a gap', async () => {
      const ids = Array.from({ length: 6 }, () => randomUUID());
      const release = await holdChanges();
      const changes = ids.map((id, index) =>
        runChange(database, (transaction) => {
          write(transaction, id);
          if (index === 2) throw refusal();
        }),
      );
      const outcomes = Promise.allSettled(changes);
      await release();
      assert.deepEqual(
        (await outcomes).map(({ status }) => status),
        ids.map((_, index) => (index === 2 ? 'rejected' : 'fulfilled')),
      );
      assert.equal(commits, 1);
      await assertConsecutive(ids.filter((_, index) => index !== 2));
    });

    test('continue after the first change is refused', async () => {
      const ids = Array.from({ length: 3 }, () => randomUUID());
      const release = await holdChanges();
      const changes = ids.map((id, index) =>
        runChange(database, (transaction) => {
          write(transaction, id);
          if (index === 0) throw refusal();
        }),
      );
      const outcomes = Promise.allSettled(changes);
      await release();
      assert.deepEqual(
        (await outcomes).map(({ status }) => status),
        ['rejected', 'fulfilled', 'fulfilled'],
      );
      assert.equal(commits, 1);
      await assertConsecutive(ids.slice(1));
    });

    test('do not share a commit with a long change', async () => {
      const ids = Array.from({ length: 4 }, () => randomUUID());
      const release = await holdChanges();
      const changes = ids.map((id, index) =>
        runChange(database, (transaction) => write(transaction, id), {
          takesLong: index === 1,
        }),
      );
      await release();
      await Promise.all(changes);
      assert.equal(commits, 3);
      await assertConsecutive(ids);
    });

    const createChanges = () =>
      new ChangeRunner(database, systemClock, {
        accessOf: (userId) => ({ access: { userId } }),
        accessFor: (_, userId) => ({ access: { userId } }),
        accessIn: (_, userId) => ({ access: { userId } }),
      });

    test('are applied once if they have the same idempotency key', async () => {
      const changes = createChanges();
      const newUser = { username: 'somebody', passwordHash: '', isAdministrator: false };
      const userId = await runChange(database, (transaction) =>
        createUser(transaction, newUser, { byUserId: null, now: 1 }),
      );
      const request = { path: 'a', name: 'count', input: {} };
      const caller: Caller = {
        userId,
        sessionId: userId,
        identity: identifyChange({ userId }, 'key', request),
      };
      let runCount = 0;
      const release = await holdChanges();
      const results = [1, 2].map(() =>
        changes.run(caller, {
          codec: numberCodec,
          work: (transaction) => {
            write(transaction, userId);
            return ++runCount;
          },
        }),
      );
      await release();
      const [first, second] = await Promise.all(results);
      assert.equal(runCount, 1);
      assert.equal(commits, 1);
      assert.deepEqual([second!.result, second!.position], [first!.result, first!.position]);
      assert.equal((await database.all(selectEntries, {})).filter(({ sessionId }) => sessionId).length, 1);
    });

    test('of one user do not block the changes of another user', async () => {
      const changes = createChanges();
      const [busyUserId, otherUserId] = [randomUUID(), randomUUID()];
      const send = (userId: string) =>
        changes.run(
          { userId, sessionId: userId },
          { codec: numberCodec, work: (transaction) => (write(transaction, userId), 0) },
        );
      const release = await holdChanges();
      const changesSent = [...Array.from({ length: 100 }, () => busyUserId), otherUserId].map(send);
      await release();
      await Promise.all(changesSent);
      const entries = await database.all(selectEntries, {});
      const index = entries.findIndex(({ sessionId }) => sessionId === otherUserId);
      assert.ok(index < database.maxConcurrentChanges, `${index} changes of the other user came first`);
    });

    if (kind !== postgres) return;

    const onPostgres = async <T>(work: (client: pg.Client) => Promise<T>): Promise<T> => {
      const client = new pg.Client(testDatabase.url);
      await client.connect();
      try {
        return await work(client);
      } finally {
        await client.end();
      }
    };

    test('are all refused if their commit fails, and none is visible', async () => {
      await onPostgres((client) => client.query(createFailingTrigger));
      const ids = [randomUUID(), failingSessionId, randomUUID()];
      const release = await holdChanges();
      let refusedRuns = 0;
      const changes = [
        ...ids.map((id) => runChange(database, (transaction) => write(transaction, id))),
        runChange(database, () => {
          refusedRuns++;
          throw refusal();
        }),
      ];
      const outcomes = Promise.allSettled(changes);
      await release();
      const results = await outcomes;
      assert.ok(results.every(({ status }) => status === 'rejected'));
      // The refused change ran again without the others.
      assert.equal(refusedRuns, 2);
      assert.equal(errorOf(results.at(-1)).message, 'Refused.');
      await assertConsecutive([]);
      const laterId = randomUUID();
      await runChange(database, (transaction) => write(transaction, laterId));
      await assertConsecutive([laterId]);
    });

    test('are each applied once, or refused, if their connection is lost', async () => {
      const ids = Array.from({ length: 5 }, () => randomUUID());
      const release = await holdChanges();
      const changes = ids.map((id, index) =>
        runChange(database, async (transaction) => {
          if (index === 3) {
            const { pid } = (await transaction.get(selectBackend, {}))!;
            await onPostgres((client) => client.query('select pg_terminate_backend($1)', [pid]));
          }
          write(transaction, id);
        }),
      );
      const outcomes = Promise.allSettled(changes);
      await release();
      const results = await outcomes;
      assert.equal(errorOf(results[3]).code, 'UNAVAILABLE');
      const appliedIds = ids.filter((_, index) => results[index]!.status === 'fulfilled');
      assert.equal(appliedIds.length, 4);
      await assertConsecutive(appliedIds);
    });
  });
}
