/** Damage that turns up while a server runs: the node is not ready, and no answer leaves out what cannot be read. */

import assert from 'node:assert/strict';
import { closeSync, openSync, writeSync } from 'node:fs';
import { afterEach, beforeEach, describe, test } from 'node:test';

import BetterSqlite from 'better-sqlite3';
import pg from 'pg';
import { databaseKinds, postgres, sqlite } from './databases.ts';
import { GraphBed, mutation, type GraphBody } from './graph-bed.ts';
import { Scrape } from './metrics/scrape.ts';
import { problemOf, Testbed } from './testbed.ts';

const exportAll = '{exportFolders{path description}}';

for (const kind of databaseKinds) {
  describe(`damage met while running on ${kind.name}`, () => {
    let bed: Testbed;
    let graph: GraphBed;
    beforeEach(async () => {
      bed = await Testbed.start(kind, { settings: { METRICS_PORT: '0' } });
      graph = new GraphBed(bed, (await bed.logIn()).authToken);
      const folders = ['One', 'Two', 'Three'].map((name) => ({ name, description: `About ${name}` }));
      await graph.run('importFolders', { tree: [{ name: 'House', folders }] });
    });
    afterEach(() => bed.stop());

    /** Behind the server's back. */
    async function execute(statement: string): Promise<void> {
      if (kind === sqlite) {
        const other = new BetterSqlite(bed.database.url.slice('sqlite:'.length));
        other.exec(statement);
        other.close();
        return;
      }
      const client = new pg.Client(bed.database.url);
      await client.connect();
      await client.query(statement);
      await client.end();
    }

    async function isUnavailable(query: string, variables?: Record<string, unknown>): Promise<void> {
      const answer = await bed.query(query, graph.authToken, variables);
      const { errors, data } = answer.json<GraphBody<Record<string, unknown>>>();
      assert.equal(errors?.[0]?.extensions.code, 'UNAVAILABLE', answer.text);
      assert.match(errors[0].message, /^The database is damaged/);
      assert.ok(!data || Object.values(data).every((value) => value === null), answer.text);
    }

    async function isNotReady(): Promise<void> {
      const answer = await bed.send('GET', '/readyz');
      assert.equal(answer.status, 503);
      assert.match(problemOf(answer).detail, /^The database is damaged\. .*[Rr]estore a backup/);
      const scrape = await Scrape.of(bed.metricsUrl!);
      assert.equal(scrape.number('espalier_ready'), 0);
      assert.equal(scrape.number('espalier_check_ok', { check: 'database' }), 0);
      const told = bed.logLines.filter((line) => /"level":50.* is damaged: /.test(line));
      assert.equal(told.length, 1);
      assert.equal((await bed.send('GET', '/livez')).status, 200);
    }

    test('an export that lacks folders which their parent counts is refused', async () => {
      assert.equal((await graph.ask<{ exportFolders: object[] }>(exportAll)).exportFolders.length, 4);
      await execute(`delete from folders where name = 'Two'`);
      await isUnavailable(exportAll);
      await isNotReady();
    });

    if (kind === sqlite) {
      const overwrite = (name: string, page: Buffer) => {
        const file = bed.database.url.slice('sqlite:'.length);
        const other = new BetterSqlite(file);
        const find = other.prepare('select rootpage from sqlite_schema where name = ?').pluck();
        const number = find.get(name) as number;
        other.pragma('wal_checkpoint(truncate)');
        other.close();
        const descriptor = openSync(file, 'r+');
        writeSync(descriptor, page, 0, page.length, (number - 1) * page.length);
        closeSync(descriptor);
      };

      test('an export from a page that reads as empty is refused', async () => {
        // https://www.sqlite.org/fileformat2.html#b_tree_pages: a leaf of an index without a cell.
        const empty = Buffer.alloc(4096);
        empty.set([10, 0, 0, 0, 0, 0x10, 0]);
        overwrite('folders_in_order', empty);
        await isUnavailable(exportAll);
        await isNotReady();
      });

      test('a page that cannot be read makes the node not ready', async () => {
        overwrite('folders_in_order', Buffer.alloc(4096, 0xa5));
        await isUnavailable(exportAll);
        await isNotReady();
      });
    }

    if (kind === postgres)
      for (const code of ['XX001', 'XX002'])
        test(`what PostgreSQL reports as ${code} makes the node not ready`, async () => {
          await execute(`create function damaged() returns trigger language plpgsql as
            $$ begin raise exception 'invalid page in block 7' using errcode = '${code}'; end $$;
            create trigger damaged before insert on folders execute function damaged()`);
          await isUnavailable(mutation('createFolder', 'folder{id}'), { input: { name: 'New' } });
          await isNotReady();
        });
  });
}
