/** What can be wrong with a database that is given: one line that says what, and what to do. */

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { text } from 'node:stream/consumers';
import pg from 'pg';
import { generate } from 'selfsigned';
import { openDatabase } from '../../server/src/database/open-database.ts';
import { sql } from '../../server/src/database/statement.ts';
import { StartError } from '../../server/src/config/start-error.ts';
import { PostgresServer } from './postgres-server.ts';

const clock = { now: () => 0 };

describe('opening a database of PostgreSQL', () => {
  let server: PostgresServer;
  let folder: string;
  let certificate: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-test-'));
    chmodSync(folder, 0o755);
    const made = await generate([{ name: 'commonName', value: '127.0.0.1' }], {
      algorithm: 'sha256',
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
    });
    certificate = join(folder, 'cert.pem');
    writeFileSync(certificate, made.cert);
    server = await PostgresServer.start();
    await server.useTls({ key: made.private, certificate: made.cert });
  });
  after(async () => {
    await server.remove();
    rmSync(folder, { recursive: true });
  });

  const ask = async (question: string, url = server.superuserUrl) => {
    const client = new pg.Client(url);
    await client.connect();
    try {
      return (await client.query(question)).rows as Record<string, unknown>[];
    } finally {
      await client.end();
    }
  };
  const urlOf = (name: string, change: (url: URL) => void = () => undefined) => {
    const url = new URL(server.url);
    url.pathname = name;
    change(url);
    return url.href;
  };
  const create = async (how = '', owner = 'espalier') => {
    const name = `test_${randomBytes(6).toString('hex')}`;
    await ask(`create database ${name} owner ${owner} template template0 ${how}`);
    return name;
  };
  const opens = async (url: string) => {
    const database = await openDatabase(url, clock);
    const isEncrypted = sql<object, { ssl: boolean }>`
      select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
    const found = await database.get(isEncrypted, {});
    await database.close();
    return found!.ssl;
  };
  const refuses = (url: string, message: RegExp) =>
    assert.rejects(openDatabase(url, clock), (error: Error) => {
      assert.ok(error instanceof StartError, error.stack);
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, new RegExp(new URL(server.url).password));
      assert.doesNotMatch(error.message, /\n/);
      return true;
    });

  test('an empty one is made ours, and opened again', async () => {
    const name = await create();
    await opens(urlOf(name));
    await opens(urlOf(name, (url) => (url.protocol = 'postgresql:')));
  });

  test('a wrong password, an unknown user, database, host or port', async () => {
    await refuses(
      urlOf('postgres', (url) => (url.password = 'hunter2')),
      /password.*Check the user and the password/,
    );
    await refuses(
      urlOf('postgres', (url) => (url.username = 'stranger')),
      /stranger.*Check the user/,
    );
    await refuses(urlOf('nothing_here'), /"nothing_here" does not exist.*Create it/);
    await refuses(
      urlOf('postgres', (url) => (url.port = '1')),
      /ECONNREFUSED.*Is the server running/,
    );
    await refuses(
      urlOf('postgres', (url) => (url.hostname = 'nowhere.invalid')),
      /nowhere\.invalid.*Check the host/,
    );
  });

  test('another encoding', async () => {
    const name = await create(`encoding 'SQL_ASCII' locale 'C'`);
    await refuses(urlOf(name), /SQL_ASCII.*UTF8/);
  });

  test('no right to make tables', async () => {
    const name = await create('', 'postgres');
    const missing = /permission denied.*(owner|pg_trgm)/;
    await refuses(urlOf(name), missing);
    assert.deepEqual(await ask(`select relname from pg_class where relname = 'users'`, urlOf(name)), []);
  });

  test('the tables of another program, which stay as they were', async () => {
    const name = await create();
    await ask('create table shop (id int); insert into shop values (7)', urlOf(name));
    await refuses(urlOf(name), /tables of another program/);
    assert.deepEqual(await ask('select id from shop', urlOf(name)), [{ id: 7 }]);
  });

  test('a newer schema, and both numbers', async () => {
    const name = await create();
    await opens(urlOf(name));
    await ask(
      `insert into espalier_migrations (number, name, applied_at) values (900, 'later', 0)`,
      urlOf(name),
    );
    await refuses(urlOf(name), /newer Espalier \(schema 900; this program knows \d+\)/);
  });

  test('too many connections', async () => {
    const name = await create();
    await ask(`alter database ${name} connection limit 0`);
    await refuses(urlOf(name), /too many connections.*ESPALIER_DATABASE_CONNECTIONS/);
  });

  test('a connection is encrypted if it is asked for, and the server is who it says', async () => {
    const name = await create();
    const withMode = (mode: string, more: Record<string, string> = {}) =>
      urlOf(name, (url) => {
        for (const [key, value] of Object.entries({ sslmode: mode, ...more }))
          url.searchParams.set(key, value);
      });
    assert.equal(await opens(urlOf(name)), false);
    assert.equal(await opens(withMode('disable')), false);
    assert.equal(await opens(withMode('require')), true);
    assert.equal(await opens(withMode('verify-ca', { sslrootcert: certificate })), true);
    assert.equal(await opens(withMode('verify-full', { sslrootcert: certificate })), true);
    await refuses(withMode('verify-full'), /certificate.*sslrootcert/);
    await refuses(withMode('verify-full', { sslrootcert: '/no/such/file' }), /no such file/);
    const elsewhere = new URL(withMode('verify-full', { sslrootcert: certificate }));
    elsewhere.hostname = 'localhost';
    await refuses(elsewhere.href, /localhost.*certificate|certificate.*localhost|altnames/);
  });

  test('the program itself says one line, and exits with 1', async () => {
    const url = urlOf('nothing_here');
    const child = spawn(
      process.execPath,
      ['--conditions=espalier-source', 'server/bin/espalier.js', 'serve', '--port', '0'],
      { env: { ESPALIER_DATABASE_URL: url }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const [said, complained, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit') as Promise<[number]>,
    ]);
    assert.equal(code, 1);
    assert.equal(said, '');
    assert.match(
      complained,
      /^espalier: The database postgres:\/\/…@127\.0\.0\.1:\d+\/nothing_here cannot be used: .*\n$/,
    );
  });
});
