/** Guarantees of the database layer that hold for both databases. */

import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import type { Database, Reader } from '../../server/src/database/database.ts';
import { openWithoutMigrating } from '../../server/src/database/open-database.ts';
import { list, listForEach, sql, type ListOfEach } from '../../server/src/database/statement.ts';
import { databaseKinds, type TestDatabase } from '../support/databases.ts';

const insert = sql<{ id: string; shelf: string }>`
  insert into books (id, shelf) values (${'id'}, ${'shelf'})`;
const moveToShelf = sql<{
  from: string;
  to: string;
}>`update books set shelf = ${'to'} where shelf = ${'from'}`;
const selectIds = sql<object, { id: string }>`select id from books order by id`;

for (const kind of databaseKinds) {
  describe(`a database on ${kind.name}`, () => {
    let testDatabase: TestDatabase;
    let database: Database;
    before(async () => {
      testDatabase = await kind.create();
      database = await openWithoutMigrating(testDatabase.url);
      const { text, tableEnd } = database.dialect;
      await database.transaction((t) =>
        t.define(`create table books (id ${text} primary key, shelf ${text} not null) ${tableEnd}`),
      );
    });
    beforeEach(() => database.transaction((t) => t.define('delete from books')));
    after(async () => {
      await database.close();
      await testDatabase.remove();
    });

    const add = (id: string, shelf = 'A') => database.transaction((t) => t.run(insert, { id, shelf }));
    const ids = async (reader: Reader = database) => (await reader.all(selectIds, {})).map(({ id }) => id);

    test('commits a transaction and returns the result of its work', async () => {
      assert.equal(await add('a'), 1);
      assert.deepEqual(await ids(), ['a']);
    });

    test('keeps a snapshot unchanged while others commit', async () => {
      await add('a');
      await database.snapshot(async (reader) => {
        assert.deepEqual(await ids(reader), ['a']);
        await add('b');
        assert.deepEqual(await ids(reader), ['a']);
        assert.deepEqual(await ids(), ['a', 'b']);
      });
      assert.deepEqual(await database.snapshot(ids), ['a', 'b']);
    });

    test('serves any number of snapshots, even after other snapshots threw', async () => {
      await add('a');
      const failure = new Error('broken');
      const snapshots = Array.from({ length: 100 }, (_, index) =>
        database.snapshot(async (reader) => {
          await setImmediate();
          if (index % 2 === 0) throw failure;
          return ids(reader);
        }),
      );
      for (const [index, outcome] of (await Promise.allSettled(snapshots)).entries()) {
        if (outcome.status === 'rejected') assert.equal(outcome.reason, failure);
        else assert.deepEqual(outcome.value, ['a']);
        assert.equal(outcome.status, index % 2 === 0 ? 'rejected' : 'fulfilled');
      }
      await add('b');
      assert.deepEqual(await database.snapshot(ids), ['a', 'b']);
    });

    test('rolls back a transaction if its work throws, immediately or later', async () => {
      const failure = new Error('broken');
      const immediateFailure = database.transaction((t) => {
        void t.run(insert, { id: 'a', shelf: 'A' });
        throw failure;
      });
      await assert.rejects(immediateFailure, failure);
      const laterFailure = database.transaction(async (t) => {
        await t.run(insert, { id: 'b', shelf: 'A' });
        await setImmediate();
        throw failure;
      });
      await assert.rejects(laterFailure, failure);
      assert.deepEqual(await ids(), []);
      await add('c');
      assert.deepEqual(await ids(), ['c']);
    });

    test('hides an open transaction from readers but not from itself', async () => {
      await database.transaction(async (t) => {
        await t.run(insert, { id: 'a', shelf: 'A' });
        await setImmediate();
        assert.deepEqual(await ids(t), ['a']);
        assert.deepEqual(await ids(), []);
      });
      assert.deepEqual(await ids(), ['a']);
    });

    test('reads a list parameter as a table of its values in order', async () => {
      const selectWords = sql<
        { words: string[] },
        object
      >`select position, value from ${list('words', 'texts')} order by position`;
      const words = ['b', 'a', 'b', `it's "quoted"`, ''];
      assert.deepEqual(
        await database.all(selectWords, { words }),
        words.map((value, position) => ({ position, value })),
      );
      assert.deepEqual(await database.all(selectWords, { words: [] }), []);
    });

    test('applies the order and the limit to each list of a query for several lists', async () => {
      const id = (digit: string) => `00000000-0000-4000-8000-00000000000${digit}`;
      const { id: type, tableEnd } = database.dialect;
      const insertLeaf = sql<{ id: string; bookId: string }>`
        insert into leaves (id, book_id) values (${'id'}, ${'bookId'})`;
      await database.transaction(async (t) => {
        await t.define(`create table leaves (id ${type} primary key, book_id ${type} not null) ${tableEnd}`);
        const leaves = ['1a', '2a', '3a', '4b', '5c'].map(([leaf, book]) => ({
          id: id(leaf!),
          bookId: id(book!),
        }));
        await t.runEach(insertLeaf, leaves);
      });
      const leavesOfBook = {
        table: 'leaves',
        where: sql`book_id = each.value and id > ${'after'}`,
        orderBy: sql`leaves.id desc`,
      };
      type LeafList = ListOfEach<string[]>;
      const selectLists = sql<{ books: string[]; after: string; limit: number }, LeafList>`
        ${listForEach('books', { ...leavesOfBook, columns: ['leaves.id'], limit: sql`${'limit'}` })}`;
      const readLists = async (books: string, after: string, limit: number) => {
        const lists = await database.all(selectLists, { books: [...books].map(id), after: id(after), limit });
        const inOrder = lists.toSorted((one, other) => one.position - other.position);
        return inOrder.map(({ list }) => list.map(([each]) => each!.at(-1)).join('')).join();
      };
      assert.equal(await readLists('ab', '0', 2), '32,4');
      assert.equal(await readLists('acf', '1', 9), '32,5,');
      assert.equal(await readLists('', '0', 9), '');
      const selectAfterSkip = sql<{ books: string[]; after: string; skip: number }, LeafList>`
        ${listForEach('books', {
          ...leavesOfBook,
          columns: ['leaves.book_id', 'leaves.id'],
          limit: sql`9 offset ${'skip'}`,
          skipsMany: true,
        })}`;
      const [row] = await database.all(selectAfterSkip, { books: [id('a')], after: id('0'), skip: 1 });
      assert.deepEqual(row!.list, [
        [id('a'), id('2')],
        [id('a'), id('1')],
      ]);
      const selectExisting = sql<{ ids: string[] }, { id: string }>`
        select id from leaves where id in (select value from ${list('ids')})`;
      assert.deepEqual(await database.all(selectExisting, { ids: [id('4'), id('9')] }), [{ id: id('4') }]);
    });

    test('reads one state in a short snapshot and in an open snapshot', async () => {
      await add('a');
      await database.shortSnapshot(async (reader) => {
        assert.deepEqual(await ids(reader), ['a']);
        await add('b');
        assert.deepEqual(await ids(reader), ['a']);
      });
      const snapshot = database.openSnapshot();
      assert.deepEqual(await ids(snapshot), ['a', 'b']);
      await add('c');
      assert.deepEqual(await ids(snapshot), ['a', 'b']);
      snapshot.end();
      await assert.rejects(async () => ids(snapshot), /This snapshot has ended/);
      assert.deepEqual(await ids(), ['a', 'b', 'c']);
    });

    test('rolls back a transaction with a failed statement, even if its work ignores the error', async () => {
      const insertTwice = (swallow: boolean) =>
        database.transaction(async (t) => {
          await t.run(insert, { id: 'a', shelf: 'A' });
          try {
            await t.run(insert, { id: 'a', shelf: 'A' });
          } catch (error) {
            if (!swallow) throw error;
          }
        });
      await assert.rejects(insertTwice(false), (error: Error) => error.name !== 'Refusal');
      assert.deepEqual(await ids(), []);
      // SQLite rolls back only the statement and may commit the rest. The rows must match the outcome of the transaction.
      const outcome = await insertTwice(true).then(
        () => ['a'],
        () => [],
      );
      assert.deepEqual(await ids(), outcome);
    });

    test('runs a statement once for each of many parameters, in order', async () => {
      const books = Array.from({ length: 333 }, (_, index) => ({ id: `${1000 + index}`, shelf: 'A' }));
      await database.transaction((t) => t.runEach(insert, books));
      assert.deepEqual(
        await ids(),
        books.map(({ id }) => id),
      );
      const move = sql<{ id: string; shelf: string }>`update books set shelf = ${'shelf'} where id = ${'id'}`;
      await database.transaction((t) =>
        t.runEach(move, [
          { id: '1000', shelf: 'B' },
          { id: '1000', shelf: 'C' },
        ]),
      );
      const shelf = sql<object, { shelf: string }>`select shelf from books where id = '1000'`;
      assert.equal((await database.get(shelf, {}))!.shelf, 'C');
      await assert.rejects(
        async () => database.transaction((t) => t.runEach(insert, [{ id: 'new', shelf: 'A' }, books[7]!])),
        (error: Error) => error.name !== 'Refusal',
      );
      assert.equal((await ids()).includes('new'), false);
    });

    test('runs each queued statement before the next read, as often as it was queued', async () => {
      const idsRead = await database.transaction(async (t) => {
        t.queue(insert, { id: 'a', shelf: 'A' });
        t.queue(insert, { id: 'b', shelf: 'A' });
        t.queue(moveToShelf, { from: 'B', to: 'C' });
        return ids(t);
      });
      assert.deepEqual(idsRead, ['a', 'b']);
      await database.transaction((t) => t.queue(insert, { id: 'c', shelf: 'A' }));
      assert.deepEqual(await ids(), ['a', 'b', 'c']);
    });

    test('rejects a change with its own error if a queued statement changes no row', async () => {
      const failure = new Error('There is no such shelf.');
      const change = database.change(async (t) => {
        t.queue(insert, { id: 'a', shelf: 'A' });
        t.queue(moveToShelf, { from: 'B', to: 'C' }, () => failure);
        await setImmediate();
      });
      await assert.rejects(change, failure);
      assert.deepEqual(await ids(), []);
    });

    test('rejects a change and writes nothing if a queued statement fails', async () => {
      await add('a');
      const change = database.change((t) => {
        t.queue(insert, { id: 'b', shelf: 'A' });
        t.queue(insert, { id: 'a', shelf: 'A' });
      });
      await assert.rejects(change);
      assert.deepEqual(await ids(), ['a']);
    });

    test('keeps the cache of a shared transaction until one of its changes is rolled back', async () => {
      const note = Symbol('note');
      const failure = new Error('broken');
      const values: unknown[] = [];
      const setNote = (value: number, error?: Error) =>
        database.change(async (t) => {
          values.push(t.cache.get(note));
          t.cache.set(note, value);
          await t.all(selectIds, {});
          if (error) throw error;
        });
      await Promise.allSettled([setNote(1), setNote(2), setNote(3, failure), setNote(4)]);
      assert.deepEqual(values, [undefined, 1, 2, undefined]);
      await setNote(5);
      assert.equal(values.at(-1), undefined);
    });

    test('runs exclusive transactions one at a time', async () => {
      const steps: string[] = [];
      const other = await openWithoutMigrating(testDatabase.url);
      const run = (connection: Database, name: string) =>
        connection.exclusive(async (t) => {
          steps.push(`${name} begins`);
          await t.run(insert, { id: name, shelf: 'A' });
          for (let round = 0; round < 20; round++) await setImmediate();
          steps.push(`${name} ends`);
        });
      await Promise.all([run(database, 'a'), run(other, 'b'), run(database, 'c')]);
      await other.close();
      for (let index = 0; index < steps.length; index += 2) {
        assert.equal(steps[index]!.split(' ')[0], steps[index + 1]!.split(' ')[0]);
      }
      assert.equal(steps.length, 6);
    });

    test('notifies this and other processes of an announced commit', async () => {
      const other = await openWithoutMigrating(testDatabase.url);
      let idsInOther: string[] = [];
      const otherIsNotified = new Promise<void>((resolve) => {
        other.onCommit(() => {
          void ids(other).then((seen) => {
            idsInOther = seen;
            if (seen.includes('a')) resolve();
          });
        });
      });
      let idsInThis: Promise<string[]> | undefined;
      database.onCommit(() => void (idsInThis = ids()));
      await database.transaction(async (t) => {
        await t.run(insert, { id: 'a', shelf: 'A' });
        t.announce();
      });
      assert.deepEqual(await idsInThis, ['a']);
      await otherIsNotified;
      assert.deepEqual(idsInOther, ['a']);
      await other.close();
    });

    test('orders texts by code points and bytes by value', async () => {
      const words = ['a', 'B', 'é', 'z', '\u{1f600}', '\uff5e', 'A b', 'a b', 'Ab', 'ab', '_', '-'];
      await database.transaction((t) =>
        t.runEach(
          insert,
          words.map((id) => ({ id, shelf: 'A' })),
        ),
      );
      const inOrder = words.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
      assert.deepEqual(await ids(), inOrder);
    });
  });
}

describe('a PostgreSQL database with small tables', () => {
  const [postgres] = databaseKinds.filter(({ name }) => name === 'PostgreSQL');
  const explain = sql<
    { id: string },
    { 'QUERY PLAN': string }
  >`explain select id from books where id = ${'id'}`;

  test('plans to use an index, because plans stay cached while tables grow', async () => {
    const testDatabase = await postgres!.create();
    const database = await openWithoutMigrating(testDatabase.url);
    try {
      await database.transaction((t) => t.define('create table books (id text primary key)'));
      const plan = (await database.all(explain, { id: 'a' })).map((row) => row['QUERY PLAN']).join(' ');
      assert.match(plan, /books_pkey/);
    } finally {
      await database.close();
      await testDatabase.remove();
    }
  });
});
