/** A copy contains the whole installation: every row and every login. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds, type DatabaseKind, type TestDatabase } from '../support/databases.ts';
import { Testbed } from '../support/testbed.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';
import type { CommandResult } from '../support/espalier-command.ts';
import { copyInto, runCopy } from './copy-command.ts';
import { makeInstallation, settings, type Installation, type Tokens } from './full-installation.ts';
import { readEverything, withExistingDatabase, type Rows } from './stored-tables.ts';
import { copyThereAndBack } from './there-and-back.ts';

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
      let sourceRows: Rows;
      let result: CommandResult;
      before(async () => {
        source = sources.get(from)!;
        destination = await to.create();
        sourceRows = await readEverything(source.database.url);
        result = await runCopy([source.database.url, destination.url]);
      });
      after(() => destination.remove());

      test('succeeds and prints the next step without a password', () => {
        const hasPassword = [source.database.url, destination.url].some((url) => new URL(url).password);
        assert.match(
          result.errors,
          hasPassword ? /^espalier: warning: A URL contains a password.*\n$/ : /^$/,
        );
        assert.equal(result.code, 0);
        assert.match(result.output, /^Now set ESPALIER_DATABASE_URL to (sqlite|postgres):\S+ and start/m);
        const { password } = new URL(destination.url);
        assert.ok(!password || !result.output.includes(password));
      });

      test('contains the same rows in every table, and no table is empty', async () => {
        assert.deepEqual(await readEverything(destination.url), sourceRows);
        for (const [table, rows] of Object.entries(sourceRows)) assert.ok(rows.length > 0, table);
      });

      test('prints the row count and digest of each table', () => {
        for (const [table, { length }] of Object.entries(sourceRows)) {
          assert.match(result.output, new RegExp(`^${table} +${length}  [\\da-f]{64}$`, 'm'));
        }
      });

      test('leaves the source unchanged', async () => {
        assert.deepEqual(await readEverything(source.database.url), sourceRows);
      });

      test(`contains the same rows after a second copy back to ${from.name}`, async () => {
        const secondCopy = await from.create();
        try {
          await withExistingDatabase(destination.url, (database) => copyInto(secondCopy.url, database));
          assert.deepEqual(await readEverything(secondCopy.url), sourceRows);
        } finally {
          await secondCopy.remove();
        }
      });

      test('returns the same tree, cursor and search results', async () => {
        const expected = await readState(from, source.database, source);
        assert.deepEqual(await readState(to, destination, source), expected);
        assert.deepEqual(expected.searchResults, [
          ['größe 9', 'Größe 10'],
          ['Größe 10'],
          [],
          ['Last', 'Later'],
        ]);
      });

      test('accepts refresh tokens issued before the copy, and repeats a lost refresh response', async () => {
        const testbed = await Testbed.start(to, { database: destination, clock: source.clock, settings });
        try {
          const repeatedResponse = await testbed.refresh(source.spentTokens);
          assert.equal(repeatedResponse.status, 200);
          const { authToken, refreshToken } = repeatedResponse.json<Tokens>();
          assert.deepEqual(
            { authToken, refreshToken },
            {
              authToken: source.successor.authToken,
              refreshToken: source.successor.refreshToken,
            },
          );
          const next = await testbed.refresh(source.tokens);
          assert.equal(next.status, 200);
          assert.equal(
            (await testbed.query('{viewer{user{username}}}', source.tokens.authToken)).status,
            200,
          );
        } finally {
          await testbed.stop();
        }
      });
    });
  }
}

async function readState(kind: DatabaseKind, database: TestDatabase, { clock, tokens }: Installation) {
  const testbed = await Testbed.start(kind, { database, clock, settings });
  try {
    const tree = new TreeTestbed(testbed, tokens.authToken);
    const searchResults: string[][] = [];
    for (const text of ['größe', '𝔊 👩', 'Half', 'la']) searchResults.push(await tree.search(text));
    return { cursor: await tree.query('{cursor}'), tree: await tree.snapshot(), searchResults };
  } finally {
    await testbed.stop();
  }
}

describe('an installation of 12,000 folders, copied from SQLite to PostgreSQL and back', () => {
  test('has the same export on each database and accepts tokens issued before the copy', async () => {
    assert.equal((await copyThereAndBack(12_000)).length, 2);
  });
});
