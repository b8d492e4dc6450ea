/** `espalier doctor` reports what works and what does not. Its exit code shows whether there are problems. */

import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { randomBytes } from 'node:crypto';
import { chmodSync, closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { generate } from 'selfsigned';
import { databaseKinds, sqlite, type TestDatabase } from '../../support/databases.ts';
import { runEspalier, runInHost } from '../../support/espalier-command.ts';
import { insertFolders } from '../../support/stored-rows.ts';
import { Testbed } from '../../support/testbed.ts';
import { withExistingDatabase } from '../../copy/stored-tables.ts';

interface ReportedFinding {
  readonly subject: string;
  readonly state: 'ok' | 'skipped' | 'warning' | 'problem';
  readonly text: string;
  readonly fix?: string;
}

let folder: string;
before(() => (folder = mkdtempSync(join(tmpdir(), 'espalier-doctor-'))));
after(() => rmSync(folder, { recursive: true }));

async function runDoctorAsJson(args: readonly string[], environment: Record<string, string>) {
  const { code, output, errors } = await runInHost(['doctor', '--json', ...args], environment);
  assert.equal(errors, '');
  const { problems, findings } = JSON.parse(output) as { problems: number; findings: ReportedFinding[] };
  assert.equal(code, problems > 0 ? 1 : 0);
  // The PostgreSQL server of the tests does not sync and supports only ASCII letters.
  const badFindings = findings.filter(
    ({ state, text }) =>
      !/^(ok|skipped)$/.test(state) && !/ off: a crash of its machine|lc_ctype 'C'/.test(text),
  );
  const format = (one: ReportedFinding) => `${one.state}: ${one.text}`;
  return {
    bad: badFindings.map(format),
    good: findings.filter(({ state }) => state === 'ok').map(format),
    findings,
  };
}

for (const kind of databaseKinds) {
  describe(`espalier doctor on ${kind.name}`, () => {
    let database: TestDatabase;
    beforeEach(async () => (database = await kind.create()));
    afterEach(() => database.remove());

    const masterKey = randomBytes(32).toString('base64');
    const databaseEnvironment = () => ({
      ESPALIER_DATABASE_URL: database.url,
      ESPALIER_MASTER_KEY: masterKey,
    });
    const startOnce = async () => {
      const testbed = await Testbed.start(kind, { database, settings: { MASTER_KEY: masterKey } });
      await testbed.stop();
    };

    test('finds nothing wrong with a new installation and its server', async () => {
      const settings = { MASTER_KEY: masterKey, CORS_ORIGINS: 'https://app.example.com' };
      const testbed = await Testbed.start(kind, { database, settings });
      const args = ['--url', testbed.url, '--origin', 'https://app.example.com'];
      const environment = {
        ...databaseEnvironment(),
        ESPALIER_ADMIN_PASSWORD: randomBytes(12).toString('base64'),
      };
      const { bad, good } = await runDoctorAsJson(args, environment);
      await testbed.stop();
      // The tests use their own clock and version.
      assert.deepEqual(
        bad.filter((text) => !/0\.0\.0-test/.test(text)),
        [],
      );
      for (const expected of [
        /signing key can be decrypted with the master key/,
        /The schema is up to date/,
        /ESPALIER_ADMIN_PASSWORD is ignored after/,
        /The server is ready/,
        /The server uses the database of these settings/,
        /Authorization header is forwarded/,
        /WebSockets work/,
        /Pages of https:\/\/app\.example\.com may call/,
        /distinguish an expired token/,
      ]) {
        assert.ok(
          good.some((text) => expected.test(text)),
          `${expected}: ${good.join('\n')}`,
        );
      }
    });

    test('reports a server with another database', async () => {
      await startOnce();
      const other = await kind.create();
      const testbed = await Testbed.start(kind, { database: other });
      const { bad } = await runDoctorAsJson(['--url', testbed.url], databaseEnvironment());
      await testbed.stop();
      await other.remove();
      assert.match(bad.join(), /warning: The server uses another database/);
    });

    test('reports a database that is empty, outdated, too new, unfinished, or sealed with another key', async () => {
      const emptyReport = await runDoctorAsJson([], databaseEnvironment());
      assert.match(
        emptyReport.bad.join(),
        /^warning: (The database file .* does not exist|The database is empty)/,
      );
      await startOnce();
      const other = { ...databaseEnvironment(), ESPALIER_MASTER_KEY: randomBytes(32).toString('base64') };
      assert.match(
        (await runDoctorAsJson([], other)).bad.join(),
        /^problem: .*sealed with another master key/,
      );
      const change = (text: string) =>
        withExistingDatabase(database.url, (opened) =>
          opened.transaction((transaction) => transaction.define(text)),
        );
      await change(`insert into settings (name, value) values ('copying', 'x')`);
      assert.match(
        (await runDoctorAsJson([], databaseEnvironment())).bad.join(),
        /^problem: The database contains an unfinished copy/,
      );
      await change(
        `delete from espalier_migrations where number = (select max(number) from espalier_migrations)`,
      );
      assert.match(
        (await runDoctorAsJson([], databaseEnvironment())).bad.join(),
        /^warning: The schema is outdated/,
      );
      await change(`insert into espalier_migrations (number, name, applied_at) values (99, 'later', 0)`);
      assert.match(
        (await runDoctorAsJson([], databaseEnvironment())).bad.join(),
        /^problem: .*schema of a newer Espalier/,
      );
    });
  });
}

describe('espalier doctor', () => {
  let database: TestDatabase;
  let file: string;
  beforeEach(async () => {
    database = await sqlite.create();
    file = database.url.slice('sqlite:'.length);
    await (await Testbed.start(sqlite, { database })).stop();
  });
  afterEach(() => database.remove());

  const runDoctor = (environment: Record<string, string> = {}, args: readonly string[] = []) =>
    runDoctorAsJson(['--port', '0', ...args], { ESPALIER_DATABASE_URL: database.url, ...environment });

  test('prints each finding with its fix, in color only if requested', async () => {
    chmodSync(file, 0o644);
    const environment = { ESPALIER_DATABASE_URL: database.url, ESPALIER_PROT: '1' };
    const plain = await runEspalier(['doctor', '--port', '0'], { environment });
    assert.equal(plain.code, 0, 'Warnings do not change the exit code.');
    assert.match(plain.output, /^Settings\n {2}ok {7}All settings/);
    assert.match(
      plain.output,
      /\n {2}warning {2}ESPALIER_PROT is not a setting.*Did you mean ESPALIER_PORT\?\n/,
    );
    assert.match(plain.output, new RegExp(`\n {11}Fix: chmod 600 ${file}`));
    assert.match(plain.output, /\n\nProblems: 0, warnings: 2\.\n$/);
    assert.ok(!plain.output.includes('\x1b'));
    const colored = await runEspalier(['doctor', '--port', '0'], {
      environment: { ...environment, FORCE_COLOR: '1' },
    });
    assert.ok(colored.output.includes('\x1b[33mwarning'));
  });

  test('finds damage anywhere in a file', async () => {
    await insertFolders(
      database.url,
      Array.from({ length: 2_000 }, (_, index) => `Folder ${index}`),
    );
    const descriptor = openSync(file, 'r+');
    const pages = Buffer.alloc(30 * 4096, 0xaa);
    writeSync(descriptor, pages, 0, pages.length, 40 * 4096 + 1_000);
    closeSync(descriptor);
    assert.match((await runDoctor()).bad.join(), /^problem: .* is damaged: /);
    writeFileSync(file, Buffer.alloc(50_000, 1));
    assert.match((await runDoctor()).bad.join(), /^problem: .* is damaged: file is not a database/);
  });

  test('reports invalid and questionable settings', async () => {
    const one = await runDoctor({ ESPALIER_TLS_CERT_FILE: join(folder, 'cert') });
    assert.match(one.bad.join(), /^problem: ESPALIER_TLS_CERT_FILE and ESPALIER_TLS_KEY_FILE go together/);
    const invalidReport = await runDoctor({
      ESPALIER_TRASH_DAYS: 'long',
      ESPALIER_DEMO: 'maybe',
      ESPALIER_PROT: '1',
    });
    assert.deepEqual(
      invalidReport.bad.map((text) => /^\w+: .*?(ESPALIER_\w+)/.exec(text)?.[1]),
      ['ESPALIER_TRASH_DAYS', 'ESPALIER_DEMO', 'ESPALIER_PROT'],
    );
    const secret = join(folder, 'secret');
    writeFileSync(secret, randomBytes(32).toString('base64'), { mode: 0o644 });
    const { bad } = await runDoctor({
      ESPALIER_HOST: '0.0.0.0',
      ESPALIER_TRUST_PROXY: 'true',
      ESPALIER_REFRESH_TOKEN_SECONDS: '60',
      ESPALIER_MASTER_KEY_FILE: secret,
    });
    for (const expected of [
      /ESPALIER_TRUST_PROXY is true: every client can forge X-Forwarded-For/,
      /clients cannot refresh in time/,
      /All users of this machine can read .*secret \(ESPALIER_MASTER_KEY_FILE\)/,
    ]) {
      assert.ok(
        bad.some((text) => expected.test(text)),
        `${expected}: ${bad.join('\n')}`,
      );
    }
    const wrong = await runEspalier(['doctor', '--origin', 'example'], { environment: {} });
    assert.equal(wrong.code, 2);
  });

  test('checks the certificate and its key', async () => {
    const day = 86_400_000;
    const createCertificate = async (from: number, to: number) =>
      generate([{ name: 'commonName', value: 'localhost' }], {
        notBeforeDate: new Date(Date.now() + from * day),
        notAfterDate: new Date(Date.now() + to * day),
      });
    const [good, old, soon] = [
      await createCertificate(-1, 365),
      await createCertificate(-10, -1),
      await createCertificate(-1, 3),
    ];
    const { privateKey: otherKind } = generateKeyPairSync('ec', {
      namedCurve: 'P-256',
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
    writeFileSync(join(folder, 'rubbish'), 'rubbish');
    for (const [cert, key, expected] of [
      [good.cert, good.private, /^warning: The certificate is self-signed[^,]+$/],
      [old.cert, old.private, /problem: The certificate expired on /],
      [soon.cert, soon.private, /warning: The certificate expires in 2 days/],
      [good.cert, otherKind, /^problem: The key in .* does not belong to the certificate/],
      [good.cert, old.private, /^problem: The key in .* does not belong to the certificate/],
      [
        'rubbish',
        good.private,
        /^problem: ESPALIER_TLS_CERT_FILE names .*, which contains no usable certificate/,
      ],
      [
        good.cert,
        'rubbish',
        /^problem: ESPALIER_TLS_KEY_FILE names .*, which contains no usable private key/,
      ],
    ] as const) {
      writeFileSync(join(folder, 'cert'), cert);
      writeFileSync(join(folder, 'key'), key, { mode: 0o600 });
      const { bad } = await runDoctor({
        ESPALIER_TLS_CERT_FILE: join(folder, 'cert'),
        ESPALIER_TLS_KEY_FILE: join(folder, 'key'),
      });
      assert.match(bad.join(), expected);
    }
  });

  test('explains why a server cannot be reached', async () => {
    const { bad } = await runDoctor({}, ['--url', 'http://127.0.0.1:1']);
    assert.deepEqual(bad, [
      'problem: No server responds at http://127.0.0.1:1: no program listens on the port.',
    ]);
    const testbed = await Testbed.start(sqlite);
    const { findings } = await runDoctor({}, ['--url', testbed.url.replace('http:', 'https:')]);
    await testbed.stop();
    assert.equal(
      findings.find(({ text }) => text.endsWith('the port does not use TLS.'))?.fix,
      `Use ${testbed.url}, or set ESPALIER_TLS_CERT_FILE and ESPALIER_TLS_KEY_FILE.`,
    );
  });
});
