/**
 * Damage that appears while a server runs: the node becomes not ready, and no response silently omits unreadable rows.
 */

import assert from 'node:assert/strict';
import { closeSync, openSync, writeSync } from 'node:fs';
import { afterEach, beforeEach, describe, test } from 'node:test';

import BetterSqlite from 'better-sqlite3';
import pg from 'pg';
import { databaseKinds, postgres, sqlite } from '../support/databases.ts';
import { GraphTestbed, mutation, type GraphBody } from '../support/graph-testbed.ts';
import { Scrape } from '../metrics/scrape.ts';
import { problemOf, Testbed } from '../support/testbed.ts';

const exportAll = '{exportFolders{path description}}';

for (const kind of databaseKinds) {
  describe(`a node whose database is damaged at run time on ${kind.name}`, () => {
    let testbed: Testbed;
    let graph: GraphTestbed;
    beforeEach(async () => {
      testbed = await Testbed.start(kind, { settings: { METRICS_PORT: '0' } });
      graph = new GraphTestbed(testbed, (await testbed.logIn()).authToken);
      const folders = ['One', 'Two', 'Three'].map((name) => ({ name, description: `About ${name}` }));
      await graph.mutate('importFolders', { tree: [{ name: 'House', folders }] });
    });
    afterEach(() => testbed.stop());

    /** Executes a statement outside the server. */
    async function execute(statement: string): Promise<void> {
      if (kind === sqlite) {
        const connection = new BetterSqlite(testbed.database.url.slice('sqlite:'.length));
        connection.exec(statement);
        connection.close();
        return;
      }
      const client = new pg.Client(testbed.database.url);
      await client.connect();
      await client.query(statement);
      await client.end();
    }

    async function assertUnavailable(query: string, variables?: Record<string, unknown>): Promise<void> {
      const answer = await testbed.query(query, graph.authToken, variables);
      const { errors, data } = answer.json<GraphBody<Record<string, unknown>>>();
      assert.equal(errors?.[0]?.extensions.code, 'UNAVAILABLE', answer.text);
      assert.match(errors[0].message, /^The database is damaged/);
      assert.ok(!data || Object.values(data).every((value) => value === null), answer.text);
    }

    async function assertNotReady(): Promise<void> {
      const answer = await testbed.send('GET', '/readyz');
      assert.equal(answer.status, 503);
      assert.match(problemOf(answer).detail, /^The database is damaged\. .*[Rr]estore a backup/);
      const scrape = await Scrape.of(testbed.metricsUrl!);
      assert.equal(scrape.number('espalier_ready'), 0);
      assert.equal(scrape.number('espalier_check_ok', { check: 'database' }), 0);
      const errorLines = testbed.logLines.filter((line) => /"level":50.* is damaged: /.test(line));
      assert.equal(errorLines.length, 1);
      assert.equal((await testbed.send('GET', '/livez')).status, 200);
    }

    test('refuses an export if folders are missing that their parent still counts', async () => {
      assert.equal((await graph.query<{ exportFolders: object[] }>(exportAll)).exportFolders.length, 4);
      await execute(`delete from folders where name = 'Two'`);
      await assertUnavailable(exportAll);
      await assertNotReady();
    });

    if (kind === sqlite) {
      const overwritePage = (name: string, page: Buffer) => {
        const file = testbed.database.url.slice('sqlite:'.length);
        const connection = new BetterSqlite(file);
        const selectPage = connection.prepare('select rootpage from sqlite_schema where name = ?').pluck();
        const number = selectPage.get(name) as number;
        connection.pragma('wal_checkpoint(truncate)');
        connection.close();
        const descriptor = openSync(file, 'r+');
        writeSync(descriptor, page, 0, page.length, (number - 1) * page.length);
        closeSync(descriptor);
      };

      test('refuses an export if an index page wrongly looks empty', async () => {
        // An index leaf page without cells: https://www.sqlite.org/fileformat2.html#b_tree_pages
        const emptyPage = Buffer.alloc(4096);
        emptyPage.set([10, 0, 0, 0, 0, 0x10, 0]);
        overwritePage('folders_in_order', emptyPage);
        await assertUnavailable(exportAll);
        await assertNotReady();
      });

      test('becomes not ready if a page cannot be read', async () => {
        overwritePage('folders_in_order', Buffer.alloc(4096, 0xa5));
        await assertUnavailable(exportAll);
        await assertNotReady();
      });
    }

    if (kind === postgres)
      for (const code of ['XX001', 'XX002'])
        test(`becomes not ready if PostgreSQL reports ${code}`, async () => {
          await execute(`create function damaged() returns trigger language plpgsql as
            $$ begin raise exception 'invalid page in block 7' using errcode = '${code}'; end $$;
            create trigger damaged before insert on folders execute function damaged()`);
          await assertUnavailable(mutation('createFolder', 'folder{id}'), { input: { name: 'New' } });
          await assertNotReady();
        });
  });
}
