/** Errors when Espalier opens its PostgreSQL database: one line with the problem and a fix. */

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

describe('opening a PostgreSQL database', () => {
  let server: PostgresServer;
  let folder: string;
  let certificate: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-test-'));
    chmodSync(folder, 0o755);
    const keyPair = await generate([{ name: 'commonName', value: '127.0.0.1' }], {
      algorithm: 'sha256',
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
    });
    certificate = join(folder, 'cert.pem');
    writeFileSync(certificate, keyPair.cert);
    server = await PostgresServer.start();
    await server.useTls({ key: keyPair.private, certificate: keyPair.cert });
  });
  after(async () => {
    await server.remove();
    rmSync(folder, { recursive: true });
  });

  const query = async (statement: string, url = server.superuserUrl) => {
    const client = new pg.Client(url);
    await client.connect();
    try {
      return (await client.query(statement)).rows as Record<string, unknown>[];
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
  const create = async (options = '', owner = 'espalier') => {
    const name = `test_${randomBytes(6).toString('hex')}`;
    await query(`create database ${name} owner ${owner} template template0 ${options}`);
    return name;
  };
  const openAndReadTls = async (url: string) => {
    const database = await openDatabase(url, clock);
    const isEncrypted = sql<object, { ssl: boolean }>`
      select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
    const row = await database.get(isEncrypted, {});
    await database.close();
    return row!.ssl;
  };
  const assertRefused = (url: string, message: RegExp) =>
    assert.rejects(openDatabase(url, clock), (error: Error) => {
      assert.ok(error instanceof StartError, error.stack);
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, new RegExp(new URL(server.url).password));
      assert.doesNotMatch(error.message, /\n/);
      return true;
    });

  test('creates the schema in an empty database, and opens this database again', async () => {
    const name = await create();
    await openAndReadTls(urlOf(name));
    await openAndReadTls(urlOf(name, (url) => (url.protocol = 'postgresql:')));
  });

  test('rejects a wrong password, and an unknown user, database, host or port', async () => {
    await assertRefused(
      urlOf('postgres', (url) => (url.password = 'hunter2')),
      /password.*Check the user and the password/,
    );
    await assertRefused(
      urlOf('postgres', (url) => (url.username = 'stranger')),
      /stranger.*Check the user/,
    );
    await assertRefused(urlOf('nothing_here'), /"nothing_here" does not exist.*Create an empty database/);
    await assertRefused(
      urlOf('postgres', (url) => (url.port = '1')),
      /ECONNREFUSED.*Check that PostgreSQL is running/,
    );
    await assertRefused(
      urlOf('postgres', (url) => (url.hostname = 'nowhere.invalid')),
      /nowhere\.invalid.*Check the host/,
    );
  });

  test('rejects a database with another encoding than UTF8', async () => {
    const name = await create(`encoding 'SQL_ASCII' locale 'C'`);
    await assertRefused(urlOf(name), /SQL_ASCII.*UTF8/);
  });

  test('rejects a user without permission to create tables', async () => {
    const name = await create('', 'postgres');
    const expectedMessage = /permission denied.*(owner|pg_trgm)/;
    await assertRefused(urlOf(name), expectedMessage);
    assert.deepEqual(await query(`select relname from pg_class where relname = 'users'`, urlOf(name)), []);
  });

  test('rejects the tables of another program and does not change them', async () => {
    const name = await create();
    await query('create table shop (id int); insert into shop values (7)', urlOf(name));
    await assertRefused(urlOf(name), /tables of another program/);
    assert.deepEqual(await query('select id from shop', urlOf(name)), [{ id: 7 }]);
  });

  test('rejects a newer schema and prints both versions', async () => {
    const name = await create();
    await openAndReadTls(urlOf(name));
    await query(
      `insert into espalier_migrations (number, name, applied_at) values (900, 'later', 0)`,
      urlOf(name),
    );
    await assertRefused(urlOf(name), /newer Espalier \(schema 900; this program has \d+\)/);
  });

  test('rejects a database with too many connections', async () => {
    const name = await create();
    await query(`alter database ${name} connection limit 0`);
    await assertRefused(urlOf(name), /too many connections.*ESPALIER_DATABASE_CONNECTIONS/);
  });

  test('encrypts a connection on request and verifies the certificate of PostgreSQL', async () => {
    const name = await create();
    const withMode = (mode: string, parameters: Record<string, string> = {}) =>
      urlOf(name, (url) => {
        for (const [key, value] of Object.entries({ sslmode: mode, ...parameters }))
          url.searchParams.set(key, value);
      });
    assert.equal(await openAndReadTls(urlOf(name)), false);
    assert.equal(await openAndReadTls(withMode('disable')), false);
    assert.equal(await openAndReadTls(withMode('require')), true);
    assert.equal(await openAndReadTls(withMode('verify-ca', { sslrootcert: certificate })), true);
    assert.equal(await openAndReadTls(withMode('verify-full', { sslrootcert: certificate })), true);
    await assertRefused(withMode('verify-full'), /certificate.*sslrootcert/);
    await assertRefused(withMode('verify-full', { sslrootcert: '/no/such/file' }), /no such file/);
    const otherHost = new URL(withMode('verify-full', { sslrootcert: certificate }));
    otherHost.hostname = 'localhost';
    await assertRefused(otherHost.href, /localhost.*certificate|certificate.*localhost|altnames/);
  });

  test('makes the program print one error line and exit with 1 if it fails', async () => {
    const url = urlOf('nothing_here');
    const child = spawn(
      process.execPath,
      ['--conditions=espalier-source', 'server/bin/espalier.js', 'serve', '--port', '0'],
      { env: { ESPALIER_DATABASE_URL: url }, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const [stdout, stderr, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit') as Promise<[number]>,
    ]);
    assert.equal(code, 1);
    assert.equal(stdout, '');
    assert.match(
      stderr,
      /^espalier: The database postgres:\/\/…@127\.0\.0\.1:\d+\/nothing_here cannot be used: .*\n$/,
    );
  });
});
