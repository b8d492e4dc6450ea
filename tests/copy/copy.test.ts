/** A copy is the installation: every row of it, and everybody who was logged in. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds, type DatabaseKind, type TestDatabase } from '../support/databases.ts';
import { Testbed } from '../support/testbed.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';
import type { CommandResult } from '../support/espalier-command.ts';
import { copyInto, runCopy } from './copy-command.ts';
import { makeInstallation, settings, type Installation, type TokenPair } from './full-installation.ts';
import { readEverything, withStored, type Rows } from './stored-tables.ts';
import { goThereAndBack } from './there-and-back.ts';

const sources = new Map<DatabaseKind, Installation>();
before(async () => {
  for (const kind of databaseKinds) sources.set(kind, await makeInstallation(kind));
});
after(async () => {
  for (const { database } of sources.values()) await database.remove();
});

for (const from of databaseKinds) {
  for (const to of databaseKinds) {
    describe(`a copy from ${from.name} to another database on ${to.name}`, () => {
      let source: Installation;
      let destination: TestDatabase;
      let everything: Rows;
      let ended: CommandResult;
      before(async () => {
        source = sources.get(from)!;
        destination = await to.create();
        everything = await readEverything(source.database.url);
        ended = await runCopy([source.database.url, destination.url]);
      });
      after(() => destination.remove());

      test('ends well, and says what to do next, without a password', () => {
        const hasPassword = [source.database.url, destination.url].some((url) => new URL(url).password);
        assert.match(ended.errors, hasPassword ? /^espalier: warning: A URL holds a password.*\n$/ : /^$/);
        assert.equal(ended.code, 0);
        assert.match(ended.output, /^Now set ESPALIER_DATABASE_URL to (sqlite|postgres):\S+ and start/m);
        const { password } = new URL(destination.url);
        assert.ok(!password || !ended.output.includes(password));
      });

      test('has the same rows in every table, and there is none without', async () => {
        assert.deepEqual(await readEverything(destination.url), everything);
        for (const [table, rows] of Object.entries(everything)) assert.ok(rows.length > 0, table);
      });

      test('tells of each table how many rows it has, and their digest', () => {
        for (const [table, { length }] of Object.entries(everything)) {
          assert.match(ended.output, new RegExp(`^${table} +${length}  [\\da-f]{64}$`, 'm'));
        }
      });

      test('leaves the source as it was', async () => {
        assert.deepEqual(await readEverything(source.database.url), everything);
      });

      test('copied back again has the same rows still', async () => {
        const back = await from.create();
        try {
          await withStored(destination.url, (database) => copyInto(back.url, database));
          assert.deepEqual(await readEverything(back.url), everything);
        } finally {
          await back.remove();
        }
      });

      test('serves the same tree from the same cursor on, and search finds what it found', async () => {
        const expected = await seenOn(from, source.database, source);
        assert.deepEqual(await seenOn(to, destination, source), expected);
        assert.deepEqual(expected.found, [['größe 9', 'Größe 10'], ['Größe 10'], [], ['Last', 'Later']]);
      });

      test('refreshes a token pair from before, and repeats a lost reply', async () => {
        const bed = await Testbed.start(to, { database: destination, clock: source.clock, settings });
        try {
          const repeated = await bed.refresh(source.spentPair);
          assert.equal(repeated.status, 200);
          const { authToken, refreshToken } = repeated.json<TokenPair>();
          assert.deepEqual(
            { authToken, refreshToken },
            {
              authToken: source.successor.authToken,
              refreshToken: source.successor.refreshToken,
            },
          );
          const next = await bed.refresh(source.pair);
          assert.equal(next.status, 200);
          assert.equal((await bed.query('{viewer{user{username}}}', source.pair.authToken)).status, 200);
        } finally {
          await bed.stop();
        }
      });
    });
  }
}

async function seenOn(kind: DatabaseKind, database: TestDatabase, { clock, pair }: Installation) {
  const bed = await Testbed.start(kind, { database, clock, settings });
  try {
    const tree = new TreeTestbed(bed, pair.authToken);
    const found: string[][] = [];
    for (const text of ['größe', '𝔊 👩', 'Half', 'la']) found.push(await tree.search(text));
    return { cursor: await tree.query('{cursor}'), tree: await tree.snapshot(), found };
  } finally {
    await bed.stop();
  }
}

describe('an installation of 12,000 folders, copied from SQLite to PostgreSQL and back', () => {
  test('has the same export at both ends, and a token pair from before refreshes after', async () => {
    assert.equal((await goThereAndBack(12_000)).length, 2);
  });
});
