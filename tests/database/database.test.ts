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
    let stored: TestDatabase;
    let database: Database;
    before(async () => {
      stored = await kind.create();
      database = await openWithoutMigrating(stored.url);
      const { text, tableEnd } = database.dialect;
      await database.transaction((t) =>
        t.define(`create table books (id ${text} primary key, shelf ${text} not null) ${tableEnd}`),
      );
    });
    beforeEach(() => database.transaction((t) => t.define('delete from books')));
    after(async () => {
      await database.close();
      await stored.remove();
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
      const broken = new Error('broken');
      const many = Array.from({ length: 100 }, (_, index) =>
        database.snapshot(async (reader) => {
          await setImmediate();
          if (index % 2 === 0) throw broken;
          return ids(reader);
        }),
      );
      for (const [index, outcome] of (await Promise.allSettled(many)).entries()) {
        if (outcome.status === 'rejected') assert.equal(outcome.reason, broken);
        else assert.deepEqual(outcome.value, ['a']);
        assert.equal(outcome.status, index % 2 === 0 ? 'rejected' : 'fulfilled');
      }
      await add('b');
      assert.deepEqual(await database.snapshot(ids), ['a', 'b']);
    });

    test('rolls back a transaction if its work throws, immediately or later', async () => {
      const broken = new Error('broken');
      const immediate = database.transaction((t) => {
        void t.run(insert, { id: 'a', shelf: 'A' });
        throw broken;
      });
      await assert.rejects(immediate, broken);
      const later = database.transaction(async (t) => {
        await t.run(insert, { id: 'b', shelf: 'A' });
        await setImmediate();
        throw broken;
      });
      await assert.rejects(later, broken);
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
      const listed = sql<
        { words: string[] },
        object
      >`select position, value from ${list('words', 'texts')} order by position`;
      const words = ['b', 'a', 'b', `it's "quoted"`, ''];
      assert.deepEqual(
        await database.all(listed, { words }),
        words.map((value, position) => ({ position, value })),
      );
      assert.deepEqual(await database.all(listed, { words: [] }), []);
    });

    test('applies order and limit to the list of each id', async () => {
      const id = (digit: string) => `00000000-0000-4000-8000-00000000000${digit}`;
      const { id: type, tableEnd } = database.dialect;
      const put = sql<{ id: string; bookId: string }>`
        insert into leaves (id, book_id) values (${'id'}, ${'bookId'})`;
      await database.transaction(async (t) => {
        await t.define(`create table leaves (id ${type} primary key, book_id ${type} not null) ${tableEnd}`);
        const leaves = ['1a', '2a', '3a', '4b', '5c'].map(([leaf, book]) => ({
          id: id(leaf!),
          bookId: id(book!),
        }));
        await t.runEach(put, leaves);
      });
      const which = {
        table: 'leaves',
        where: sql`book_id = each.value and id > ${'after'}`,
        orderBy: sql`leaves.id desc`,
      };
      type Chosen = ListOfEach<string[]>;
      const chosen = sql<{ books: string[]; after: string; limit: number }, Chosen>`
        ${listForEach('books', { ...which, columns: ['leaves.id'], limit: sql`${'limit'}` })}`;
      const choose = async (books: string, after: string, limit: number) => {
        const lists = await database.all(chosen, { books: [...books].map(id), after: id(after), limit });
        const inOrder = lists.toSorted((one, other) => one.position - other.position);
        return inOrder.map(({ list }) => list.map(([each]) => each!.at(-1)).join('')).join();
      };
      assert.equal(await choose('ab', '0', 2), '32,4');
      assert.equal(await choose('acf', '1', 9), '32,5,');
      assert.equal(await choose('', '0', 9), '');
      const passing = sql<{ books: string[]; after: string; skip: number }, Chosen>`
        ${listForEach('books', {
          ...which,
          columns: ['leaves.book_id', 'leaves.id'],
          limit: sql`9 offset ${'skip'}`,
          skipsMany: true,
        })}`;
      const [passed] = await database.all(passing, { books: [id('a')], after: id('0'), skip: 1 });
      assert.deepEqual(passed!.list, [
        [id('a'), id('2')],
        [id('a'), id('1')],
      ]);
      const listed = sql<{ ids: string[] }, { id: string }>`
        select id from leaves where id in (select value from ${list('ids')})`;
      assert.deepEqual(await database.all(listed, { ids: [id('4'), id('9')] }), [{ id: id('4') }]);
    });

    test('reads one state in a short snapshot and in the open snapshot of a response', async () => {
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

    test('rolls back a transaction with a failed statement, even if its work continues', async () => {
      const twice = (swallow: boolean) =>
        database.transaction(async (t) => {
          await t.run(insert, { id: 'a', shelf: 'A' });
          try {
            await t.run(insert, { id: 'a', shelf: 'A' });
          } catch (error) {
            if (!swallow) throw error;
          }
        });
      await assert.rejects(twice(false), (error: Error) => error.name !== 'Refusal');
      assert.deepEqual(await ids(), []);
      // SQLite rolls back only the statement and may commit the rest. The rows must match the outcome of the transaction.
      const outcome = await twice(true).then(
        () => ['a'],
        () => [],
      );
      assert.deepEqual(await ids(), outcome);
    });

    test('runs a statement once for each of many parameters, in order', async () => {
      const each = Array.from({ length: 333 }, (_, index) => ({ id: `${1000 + index}`, shelf: 'A' }));
      await database.transaction((t) => t.runEach(insert, each));
      assert.deepEqual(
        await ids(),
        each.map(({ id }) => id),
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
        async () => database.transaction((t) => t.runEach(insert, [{ id: 'new', shelf: 'A' }, each[7]!])),
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

    test('fails with the given error when a queued statement changes no row, and writes nothing', async () => {
      const missing = new Error('There is no such shelf.');
      const change = database.change(async (t) => {
        t.queue(insert, { id: 'a', shelf: 'A' });
        t.queue(moveToShelf, { from: 'B', to: 'C' }, () => missing);
        await setImmediate();
      });
      await assert.rejects(change, missing);
      assert.deepEqual(await ids(), []);
    });

    test('fails when a queued statement fails, and writes nothing', async () => {
      await add('a');
      const change = database.change((t) => {
        t.queue(insert, { id: 'b', shelf: 'A' });
        t.queue(insert, { id: 'a', shelf: 'A' });
      });
      await assert.rejects(change);
      assert.deepEqual(await ids(), ['a']);
    });

    test('keeps the notes of a shared transaction until one of its changes is rolled back', async () => {
      const note = Symbol('note');
      const broken = new Error('broken');
      const seen: unknown[] = [];
      const noting = (value: number, error?: Error) =>
        database.change(async (t) => {
          seen.push(t.notes.get(note));
          t.notes.set(note, value);
          await t.all(selectIds, {});
          if (error) throw error;
        });
      await Promise.allSettled([noting(1), noting(2), noting(3, broken), noting(4)]);
      assert.deepEqual(seen, [undefined, 1, 2, undefined]);
      await noting(5);
      assert.equal(seen.at(-1), undefined);
    });

    test('runs exclusive transactions one at a time', async () => {
      const steps: string[] = [];
      const other = await openWithoutMigrating(stored.url);
      const run = (on: Database, name: string) =>
        on.exclusive(async (t) => {
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

    test('wakes watchers in this and other processes after an announced commit', async () => {
      const other = await openWithoutMigrating(stored.url);
      let seenElsewhere: string[] = [];
      const elsewhere = new Promise<void>((resolve) => {
        other.onCommit(() => {
          void ids(other).then((seen) => {
            seenElsewhere = seen;
            if (seen.includes('a')) resolve();
          });
        });
      });
      let seenHere: Promise<string[]> | undefined;
      database.onCommit(() => void (seenHere = ids()));
      await database.transaction(async (t) => {
        await t.run(insert, { id: 'a', shelf: 'A' });
        t.announce();
      });
      assert.deepEqual(await seenHere, ['a']);
      await elsewhere;
      assert.deepEqual(seenElsewhere, ['a']);
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
    const stored = await postgres!.create();
    const database = await openWithoutMigrating(stored.url);
    try {
      await database.transaction((t) => t.define('create table books (id text primary key)'));
      const plan = (await database.all(explain, { id: 'a' })).map((row) => row['QUERY PLAN']).join(' ');
      assert.match(plan, /books_pkey/);
    } finally {
      await database.close();
      await stored.remove();
    }
  });
});
