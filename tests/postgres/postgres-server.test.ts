/** The PostgreSQL server for tests stops, crashes and restarts on request. It ends with the process that started it. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { PostgresServer } from './postgres-server.ts';

describe('the PostgreSQL server for tests', () => {
  let server: PostgresServer;
  before(async () => (server = await PostgresServer.start({ isDurable: true })));
  after(() => server.remove());

  const query = async (text: string, url = server.url) => {
    const client = new pg.Client(url);
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end();
    }
  };

  test('orders text by bytes, requires a password, and syncs if it is durable', async () => {
    const [row] = await query(
      `select current_setting('server_encoding') as encoding, current_setting('fsync') as fsync,
        (select array_agg(t order by t) from unnest(array['b', 'B', 'é', 'a']) as t) as sorted`,
    );
    assert.deepEqual(row, { encoding: 'UTF8', fsync: 'on', sorted: ['B', 'a', 'b', 'é'] });
    const wrongUrl = new URL(server.url);
    wrongUrl.password = 'wrong';
    await assert.rejects(query('select 1', wrongUrl.href), { code: '28P01' });
  });

  test('gives tests a user who may only create databases', async () => {
    await query('create database one_more template template0');
    await query('drop database one_more with (force)');
    await assert.rejects(query('create role another_user superuser'), { code: '42501' });
    await query('create role another_user', server.superuserUrl);
  });

  for (const end of ['stop', 'crash'] as const) {
    test(`keeps committed data and its address after a ${end}`, async () => {
      await query('create table if not exists numbers (number int)', server.superuserUrl);
      const client = new pg.Client(server.superuserUrl);
      client.on('error', () => undefined);
      await client.connect();
      await client.query('insert into numbers values (1)');
      await client.query('begin; insert into numbers values (2)');
      const { url } = server;
      await server[end]();
      await assert.rejects(query('select 1'), { code: 'ECONNREFUSED' });
      await server.restart();
      assert.equal(server.url, url);
      assert.deepEqual(await query('delete from numbers returning number', server.superuserUrl), [
        { number: 1 },
      ]);
      assert.equal(/was not properly shut down/.test(server.log), end === 'crash');
    });
  }

  test('stops and removes its folder when the process that started it is killed', async () => {
    const script = `
      import { PostgresServer } from ${JSON.stringify(new URL('postgres-server.ts', import.meta.url).href)};
      import pg from 'pg';
      const server = await PostgresServer.start();
      const client = new pg.Client(server.superuserUrl);
      await client.connect();
      console.log((await client.query('show data_directory')).rows[0].data_directory);
      console.log(server.url);`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      cwd: import.meta.dirname,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
    const folder = (await lines.next()).value as string;
    const url = (await lines.next()).value as string;
    assert.ok(existsSync(folder));
    assert.equal((await query('select 1', url)).length, 1);
    child.kill('SIGKILL');
    await once(child, 'exit');
    while (existsSync(folder)) await sleep(20);
    await assert.rejects(query('select 1', url), { code: 'ECONNREFUSED' });
  });
});
