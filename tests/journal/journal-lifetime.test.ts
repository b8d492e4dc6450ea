/** The journal over time and across processes: entries expire, and numbers continue. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { Testbed } from '../support/testbed.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';

interface JournalData {
  readonly journal: {
    readonly items: readonly { readonly number: number; readonly folderId: string | null }[];
    readonly totalCount: number;
  };
}

const journalQuery = '{journal{items{number folderId} totalCount}}';

for (const kind of databaseKinds) {
  test(`the server removes journal entries older than ESPALIER_JOURNAL_DAYS, on ${kind.name}`, async () => {
    const tree = await TreeTestbed.start(kind, { settings: { JOURNAL_DAYS: '2' } });
    try {
      await tree.create('Old');
      await tree.advanceDays(1);
      const id = await tree.create('Young');
      await tree.advanceDays(1.5);
      await tree.server.purge();
      const { journal } = await tree.query<JournalData>(journalQuery);
      assert.deepEqual(
        journal.items.map((entry) => entry.folderId),
        [id],
      );
      await tree.advanceDays(1);
      await tree.server.purge();
      assert.equal((await tree.query<JournalData>(journalQuery)).journal.totalCount, 0);
      await tree.create('New');
      const [entry] = (await tree.query<JournalData>(journalQuery)).journal.items;
      assert.equal(entry!.number, 4);
    } finally {
      await tree.stop();
    }
  });

  test(`a second process on the same database continues the journal numbers, on ${kind.name}`, async () => {
    const first = await TreeTestbed.start(kind);
    const testbed = await Testbed.start(kind, {
      database: first.server.database,
      clock: first.server.clock,
    });
    try {
      const second = new TreeTestbed(testbed, first.authToken);
      for (let index = 0; index < 10; index++) await (index % 2 ? first : second).create(`f${index}`);
      const { items } = (await second.query<JournalData>(journalQuery)).journal;
      assert.deepEqual(
        items.map(({ number }) => number),
        [11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1],
      );
    } finally {
      await testbed.stop();
      await first.stop();
    }
  });
}
