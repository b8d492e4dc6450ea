import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { environmentName, flagName } from './read-setting.ts';
import { readSettings } from './config.ts';
import { settingsTable } from './settings-table.ts';
import type { Setting } from './setting.ts';
import { StartError } from './start-error.ts';

type Environment = Record<string, string>;

const settingsFrom = (environment: Environment, flags: Environment = {}) =>
  readSettings({ environment, flags }).settings;
const warningsFor = (environment: Environment) => readSettings({ environment }).warnings;

function startErrorOf(environment: Environment, flags: Environment = {}): string {
  try {
    readSettings({ environment, flags });
  } catch (error) {
    assert.ok(error instanceof StartError, String(error));
    return error.message;
  }
  assert.fail(`${JSON.stringify({ environment, flags })} was accepted`);
}

for (const [what, environment, message] of [
  [
    'the same port twice',
    { ESPALIER_PORT: '9000', ESPALIER_METRICS_PORT: '9000' },
    'ESPALIER_METRICS_PORT and ESPALIER_PORT are equal. Set different ports.',
  ],
  [
    'a backup folder for a PostgreSQL database',
    { ESPALIER_DATABASE_URL: 'postgres://db/espalier', ESPALIER_BACKUP_FOLDER: '/backup' },
    "ESPALIER_BACKUP_FOLDER requires an SQLite database. Remove the setting, and back up PostgreSQL with its own tools: see 'espalier docs postgresql'.",
  ],
] as const) {
  test(`refuses to start with ${what}`, () => {
    assert.throws(() => readSettings({ environment }), { message });
  });
}

test('returns frozen settings with the documented defaults', () => {
  const { settings, warnings } = readSettings({ environment: {} });
  assert.deepEqual(warnings, []);
  assert.ok(Object.isFrozen(settings));
  assert.deepEqual(settings, {
    host: '127.0.0.1',
    port: 8080,
    workers: 1,
    basePath: '',
    databaseUrl: 'sqlite:./espalier-data/espalier.db',
    databaseConnections: 16,
    databasePoolMode: 'session',
    databaseTimeoutSeconds: 30,
    authTokenSeconds: 600,
    refreshTokenSeconds: 60 * 24 * 60 * 60,
    reuseToleranceSeconds: 60,
    refreshRetrySeconds: 0,
    maxSessionsPerUser: 0,
    loginThrottle: true,
    secondFactor: 'optional',
    passwordLogin: 'on',
    publicUrl: undefined,
    ssoIssuer: undefined,
    ssoClientId: undefined,
    ssoClientSecret: undefined,
    ssoName: 'single sign-on',
    ssoScopes: 'openid profile email',
    ssoUsernameClaim: 'preferred_username',
    ssoCreateUsers: false,
    ssoGroupsClaim: 'groups',
    ssoGroups: undefined,
    ssoRecheckMinutes: 15,
    keyRotationDays: 90,
    masterKey: undefined,
    introspectionClient: undefined,
    issuer: undefined,
    audience: undefined,
    maxQueryCharacters: 100_000,
    maxQueryTokens: 5_000,
    maxFields: 500,
    maxDepth: 64,
    maxFolders: 20_000,
    maxValues: 400_000,
    maxTextBytes: 32 * 1024 * 1024,
    maxPageSize: 20_000,
    maxScanned: 2_000_000,
    maxExportFolders: 100_000,
    maxImportFolders: 100_000,
    maxSubscriptions: 100,
    maxConnections: 200,
    maxBacklog: 10_000,
    journalDays: 90,
    journalEntries: 1_000_000,
    signInDays: 90,
    trashDays: 30,
    metricsPort: undefined,
    metricsHost: '127.0.0.1',
    backupFolder: undefined,
    backupEveryHours: 24,
    backupKeep: 7,
    tracesUrl: undefined,
    tracesShare: 1,
    tracesHeaders: undefined,
    adminUsername: 'admin',
    adminPassword: undefined,
    demo: false,
    tlsCertFile: undefined,
    tlsKeyFile: undefined,
    trustProxy: false,
    corsOrigins: [],
    console: true,
    stopSeconds: 10,
    stopDelaySeconds: 0,
    logLevel: 'info',
  });
});

test('prefers a flag over the environment, even if the variable is invalid', () => {
  assert.equal(settingsFrom({ ESPALIER_PORT: '1' }, { port: '2' }).port, 2);
  assert.equal(settingsFrom({ ESPALIER_PORT: 'many' }, { port: '2' }).port, 2);
});

test('treats an empty variable as not set', () => {
  const names = Object.values(settingsTable).map(environmentName);
  const empty = Object.fromEntries([...names, 'ESPALIER_ADMIN_PASSWORD_FILE'].map((name) => [name, '']));
  assert.deepEqual(readSettings({ environment: empty }), readSettings({ environment: {} }));
});

const badValues: Record<string, string[]> = {
  HOST: ['two words', '[::1]', 'http://localhost'],
  PORT: ['-1', '65536', '80.5', '8e3', ' 80', 'http', '0x50'],
  BASE_PATH: ['tree', '/.', '/..', '/a/../b', '//', '/a//b', '/a b', '/a?b', '/%41'],
  DATABASE_URL: ['espalier.db', 'sqlite:', 'sqlite::memory:'],
  AUTH_TOKEN_SECONDS: ['0', '86401', '10m', '-5'],
  REFRESH_TOKEN_SECONDS: ['0', '315360001', '60d'],
  REUSE_TOLERANCE_SECONDS: ['-1', '86401'],
  REFRESH_RETRY_SECONDS: ['-1', '601'],
  LOGIN_THROTTLE: ['maybe', '50'],
  ISSUER: ['x'.repeat(256)],
  AUDIENCE: ['x'.repeat(256)],
  TRACES_URL: ['127.0.0.1:4318', 'grpc://host:4317'],
  TRACES_SHARE: ['-0.1', '1.1', '10%', '1e-2'],
  MAX_QUERY_CHARACTERS: ['999', '10000001', '100 kB'],
  MAX_QUERY_TOKENS: ['99', '100001', '5,000'],
  MAX_FIELDS: ['9', '100001', 'all'],
  MAX_DEPTH: ['4', '501', '-1'],
  MAX_FOLDERS: ['0', '10000001', 'unlimited'],
  MAX_VALUES: ['0', '100000001', '1e6'],
  MAX_TEXT_BYTES: ['0', '1073741825', '32 MiB'],
  MAX_PAGE_SIZE: ['0', '10000001'],
  MAX_EXPORT_FOLDERS: ['0', '10000001'],
  MAX_IMPORT_FOLDERS: ['0', '10000001'],
  TRASH_DAYS: ['-1', '3651', '30d'],
  DEMO: ['maybe', '2', 'truely'],
  TRUST_PROXY: [
    '100',
    '-1',
    '10.0.0.256',
    '10.0.0.0/33',
    '10.0.0.0/0',
    '10.0.0.0/8/9',
    '10.0.0.0/',
    'proxy.local',
    '::1,,::2',
  ],
  CORS_ORIGINS: [
    'app.example.com',
    'https://*.a.example',
    'https://a.example/',
    'https://a.example/x',
    'null',
  ],
  LOG_LEVEL: ['loud', 'information'],
};

test('parses trace headers without displaying them in errors', () => {
  const read = (text: string) => readSettings({ environment: { ESPALIER_TRACES_HEADERS: text } }).settings;
  assert.deepEqual(read('Authorization=Bearer%20x%3D, x-tenant=7').tracesHeaders, {
    authorization: 'Bearer x=',
    'x-tenant': '7',
  });
  assert.deepEqual(read('x-name=caf%C3%A9%20%7E').tracesHeaders, { 'x-name': 'café ~' });
  for (const bad of [
    'secretword',
    'se cret=word',
    'secret=%zz',
    'a=secret,,c=d',
    ...['%0D', '%0A', '%0D%0Ax-other:%20secret', '%00', '%09', '%7F', '%C2%85', '%E2%82%AC'].map(
      (sign) => `a=secret${sign}secret`,
    ),
  ]) {
    assert.throws(
      () => read(bad),
      (error: Error) =>
        /^Invalid value for ESPALIER_TRACES_HEADERS: /.test(error.message) && !/secret/.test(error.message),
    );
  }
});

test('warns about a setting that has no effect without another setting', () => {
  const warningsOf = (environment: Record<string, string>, flags: Record<string, string> = {}) =>
    readSettings({ environment, flags }).warnings;
  assert.deepEqual(warningsOf({ ESPALIER_METRICS_HOST: '0.0.0.0' }), [
    'ESPALIER_METRICS_HOST is ignored: it has no effect without ESPALIER_METRICS_PORT.',
  ]);
  assert.deepEqual(warningsOf({}, { 'metrics-host': '0.0.0.0', 'backup-keep': '3' }), [
    '--backup-keep is ignored: it has no effect without ESPALIER_BACKUP_FOLDER.',
    '--metrics-host is ignored: it has no effect without ESPALIER_METRICS_PORT.',
  ]);
  assert.deepEqual(warningsOf({ ESPALIER_TRACES_HEADERS: 'a=secret', ESPALIER_TRACES_SHARE: '0.5' }), [
    'ESPALIER_TRACES_SHARE is ignored: it has no effect without ESPALIER_TRACES_URL.',
    'ESPALIER_TRACES_HEADERS is ignored: it has no effect without ESPALIER_TRACES_URL.',
  ]);
  assert.deepEqual(warningsOf({ ESPALIER_METRICS_HOST: '0.0.0.0', ESPALIER_METRICS_PORT: '0' }), []);
  assert.deepEqual(warningsOf({ ESPALIER_METRICS_HOST: '' }), []);
  const all: Setting<unknown>[] = Object.values(settingsTable);
  for (const { onlyWith } of all) {
    if (onlyWith !== undefined)
      assert.ok(
        all.some(({ name }) => name === onlyWith),
        onlyWith,
      );
  }
});

test('adds the default path of a collector to a traces URL without a path', () => {
  const urlOf = (input: string) =>
    readSettings({ environment: { ESPALIER_TRACES_URL: input } }).settings.tracesUrl;
  assert.equal(urlOf('http://127.0.0.1:4318'), 'http://127.0.0.1:4318/v1/traces');
  assert.equal(urlOf('http://127.0.0.1:4318/'), 'http://127.0.0.1:4318/v1/traces');
  assert.equal(urlOf('https://traces.example/otlp/in'), 'https://traces.example/otlp/in');
});

test('rejects a traces URL that contains a password', () => {
  const environment = { ESPALIER_TRACES_URL: 'http://me:secret@host/v1/traces' };
  assert.throws(
    () => readSettings({ environment }),
    (error: Error) => !error.message.includes('secret'),
  );
});

for (const [name, values] of Object.entries(badValues)) {
  test(`reports an invalid ${name} with its source, its value and the accepted values`, () => {
    const { accepts } = Object.values(settingsTable).find((each) => each.name === name)!;
    for (const value of values) {
      const expected = (source: string) =>
        `Invalid value ${JSON.stringify(value)} for ${source}: use ${accepts}.`;
      assert.equal(startErrorOf({ [`ESPALIER_${name}`]: value }), expected(`ESPALIER_${name}`));
      const flag = flagName({ name });
      assert.equal(startErrorOf({}, { [flag]: value }), expected(`--${flag}`));
    }
  });
}

test('reports all invalid settings at once, one per line', () => {
  assert.deepEqual(
    startErrorOf({ ESPALIER_PORT: 'eighty', ESPALIER_TRASH_DAYS: 'long', ESPALIER_DEMO: 'maybe' }).split(
      '\n',
    ),
    [
      'Invalid value "eighty" for ESPALIER_PORT: use a whole number from 0 to 65535.',
      'Invalid value "long" for ESPALIER_TRASH_DAYS: use a whole number from 0 to 3650.',
      'Invalid value "maybe" for ESPALIER_DEMO: use true or false.',
    ],
  );
  assert.equal(
    startErrorOf({ ESPALIER_TLS_KEY_FILE: 'key.pem', ESPALIER_METRICS_PORT: '8080' }).split('\n').length,
    2,
  );
  assert.match(
    startErrorOf({ ESPALIER_PORT: 'eighty', ESPALIER_TLS_KEY_FILE: 'key.pem', ESPALIER_BACKUP_FOLDER: 'b' }),
    /^Invalid value "eighty" for ESPALIER_PORT.*\nESPALIER_TLS_CERT_FILE and ESPALIER_TLS_KEY_FILE go together.*$/,
  );
  assert.throws(() => readSettings({ environment: { ESPALIER_DEMO: 'maybe' }, flags: { port: 'eighty' } }), {
    name: 'UsageError',
  });
});

test('leaves out the password of an invalid database URL in the error', () => {
  const message = startErrorOf({ ESPALIER_DATABASE_URL: 'mysql://me:hunter2@db.example/tree' });
  assert.match(message, /mysql:\/\/…@db\.example\/tree/);
  assert.doesNotMatch(message, /hunter2/);
});

test('rejects a database URL whose password is not percent-encoded', () => {
  for (const sign of ['/', '?', '#']) {
    const url = `postgres://me:12${sign}hunter2@db.example/tree`;
    const message = startErrorOf({ ESPALIER_DATABASE_URL: url });
    assert.match(message, /: use .* percent-encoded\.$/);
    assert.doesNotMatch(message, /hunter2/);
  }
  for (const url of ['postgres://me:p%2Fw@[::1]:5432/tree?options=a@b', 'postgresql:///tree?host=/run/pg']) {
    assert.equal(settingsFrom({ ESPALIER_DATABASE_URL: url }).databaseUrl, url);
  }
});

test('rejects both a value and a file for one setting from the same kind of source', () => {
  assert.equal(
    startErrorOf({}, { 'database-url': 'sqlite:a.db', 'database-url-file': 'url' }),
    '--database-url and --database-url-file are both set. Set only one.',
  );
  assert.equal(
    startErrorOf({ ESPALIER_ADMIN_PASSWORD: 'hunter2', ESPALIER_ADMIN_PASSWORD_FILE: 'secret' }),
    'ESPALIER_ADMIN_PASSWORD and ESPALIER_ADMIN_PASSWORD_FILE are both set. Set only one.',
  );
  const byFlag = settingsFrom({ ESPALIER_DATABASE_URL_FILE: 'missing' }, { 'database-url': 'sqlite:a.db' });
  assert.equal(byFlag.databaseUrl, 'sqlite:a.db');
});

test('treats an empty flag as an invalid value', () => {
  assert.match(startErrorOf({}, { port: '' }), /^Invalid value "" for --port: /);
  assert.match(startErrorOf({}, { 'admin-username': '' }), /^Invalid value "" for --admin-username: /);
});

const goodValues: Record<string, Record<string, unknown>> = {
  HOST: { '::': '::', 'fe80::1%eth0': 'fe80::1%eth0', 'my-host.example': 'my-host.example' },
  PORT: { '0': 0, '65535': 65_535 },
  BASE_PATH: { '/': '', '/tree': '/tree', '/a/b.c/': '/a/b.c' },
  DEMO: { '1': true, Yes: true, on: true, TRUE: true, '0': false, off: false },
  TRUST_PROXY: { true: true, no: false, '0': false, '12': 12, 'loopback, ::1/64': ['loopback', '::1/64'] },
  CORS_ORIGINS: {
    '*': ['*'],
    ' , ': [],
    'https://a.example, http://b:1,': ['https://a.example', 'http://b:1'],
  },
  LOG_LEVEL: { WARN: 'warn', silent: 'silent' },
};

for (const [name, readings] of Object.entries(goodValues)) {
  test(`accepts each form of ${name}`, () => {
    const [key] = Object.entries(settingsTable).find(([, each]) => each.name === name)!;
    for (const [input, expected] of Object.entries(readings)) {
      const settings: Record<string, unknown> = settingsFrom({ [`ESPALIER_${name}`]: input });
      assert.deepEqual(settings[key], expected, input);
    }
  });
}

test('requires a certificate and its key together', () => {
  const together = /ESPALIER_TLS_CERT_FILE and ESPALIER_TLS_KEY_FILE go together/;
  assert.match(startErrorOf({ ESPALIER_TLS_CERT_FILE: 'cert.pem' }), together);
  assert.match(startErrorOf({ ESPALIER_TLS_KEY_FILE: 'key.pem' }), together);
  const { tlsCertFile, tlsKeyFile } = settingsFrom({ ESPALIER_TLS_CERT_FILE: 'c' }, { 'tls-key-file': 'k' });
  assert.deepEqual([tlsCertFile, tlsKeyFile], ['c', 'k']);
});

describe('an unknown variable', () => {
  test('causes a warning that suggests the most similar setting', () => {
    assert.deepEqual(warningsFor({ ESPALIER_PROT: '80', ESPALIER_REFRESH_TOKENS_SECONDS: '5', PORT: '1' }), [
      'ESPALIER_PROT is not a setting of Espalier and is ignored. Did you mean ESPALIER_PORT?',
      'ESPALIER_REFRESH_TOKENS_SECONDS is not a setting of Espalier and is ignored. Did you mean ESPALIER_REFRESH_TOKEN_SECONDS?',
    ]);
  });

  test('causes a warning without a suggestion if no setting is similar', () => {
    assert.doesNotMatch(warningsFor({ ESPALIER_FOO: 'x' }).join(), /Did you mean/);
    const warning = 'ESPALIER_COLOR_OF_THE_BIKE_SHED is not a setting of Espalier and is ignored.';
    assert.deepEqual(warningsFor({ ESPALIER_COLOR_OF_THE_BIKE_SHED: 'green' }), [warning]);
  });

  test('causes no warning if it contains the password for the example programs', () => {
    assert.deepEqual(warningsFor({ ESPALIER_PASSWORD: 'x' }), []);
  });

  test('is reported without its value, which may be a secret', () => {
    assert.doesNotMatch(warningsFor({ ESPALIER_ADMIN_PASWORD: 'hunter2' }).join(), /hunter2/);
  });

  test('is ignored if Kubernetes created it for a service named espalier', () => {
    const environment = {
      ESPALIER_SERVICE_HOST: '10.0.0.1',
      ESPALIER_SERVICE_PORT: '80',
      ESPALIER_SERVICE_PORT_HTTP: '80',
      ESPALIER_PORT: 'tcp://1.2.3.4:80',
      ESPALIER_PORT_8080_TCP: 'tcp://1.2.3.4:8080',
      ESPALIER_PORT_8080_TCP_PROTO: 'tcp',
      ESPALIER_PORT_8080_TCP_PORT: '8080',
      ESPALIER_PORT_8080_TCP_ADDR: '1.2.3.4',
      ESPALIER_WEB_SERVICE_HOST: '10.0.0.2',
      ESPALIER_WEB_PORT: 'tcp://10.0.0.2:80',
      ESPALIER_WEB_PORT_80_TCP_ADDR: '10.0.0.2',
    };
    assert.deepEqual(readSettings({ environment }), readSettings({ environment: {} }));
  });
});

describe('a secret', () => {
  let folder: string;
  before(() => (folder = mkdtempSync(join(tmpdir(), 'espalier-test-'))));
  after(() => rmSync(folder, { recursive: true }));
  const fileWith = (text: string) => {
    const path = join(folder, 'secret');
    writeFileSync(path, text);
    return path;
  };

  test('is read from a variable, or from a file without the last line break', () => {
    assert.equal(settingsFrom({ ESPALIER_ADMIN_PASSWORD: ' pass word ' }).adminPassword, ' pass word ');
    const files = { 'a b': 'a b', 'a\n': 'a', 'a\r\n': 'a', 'a\n\n': 'a\n', ' a ': ' a ' };
    for (const [content, expected] of Object.entries(files)) {
      const path = fileWith(content);
      assert.equal(settingsFrom({ ESPALIER_ADMIN_PASSWORD_FILE: path }).adminPassword, expected);
      assert.equal(settingsFrom({}, { 'admin-password-file': path }).adminPassword, expected);
    }
  });

  test('can have a user name that is read from a file', () => {
    const { adminUsername } = settingsFrom({ ESPALIER_ADMIN_USERNAME_FILE: fileWith('gardener\n') });
    assert.equal(adminUsername, 'gardener');
    assert.equal(settingsFrom({}, { 'admin-username-file': fileWith('gardener') }).adminUsername, 'gardener');
  });

  test('cannot be set with a flag, because the process list displays flags', () => {
    assert.equal(settingsFrom({}, { 'admin-password': 'hunter2' }).adminPassword, undefined);
  });

  test('stops the start with an error that names its missing file', () => {
    const path = join(folder, 'missing');
    const message = startErrorOf({ ESPALIER_ADMIN_PASSWORD_FILE: path });
    assert.equal(message, `Cannot read ${path} (ESPALIER_ADMIN_PASSWORD_FILE): the file does not exist.`);
    const byFlag = startErrorOf({}, { 'admin-password-file': join(path, 'secret') });
    assert.match(byFlag, /^Cannot read .* \(--admin-password-file\): the folder .*missing does not exist\.$/);
  });

  test('stops the start if its file is empty', () => {
    assert.match(
      startErrorOf({ ESPALIER_ADMIN_PASSWORD_FILE: fileWith('\n') }),
      /^Invalid value for ESPALIER_ADMIN_PASSWORD_FILE: use a password\.$/,
    );
  });

  test('is not displayed if another setting stops the start', () => {
    const environment = { ESPALIER_ADMIN_PASSWORD: 'hunter2', ESPALIER_PORT: 'x' };
    assert.doesNotMatch(startErrorOf(environment), /hunter2/);
  });
});

test('returns the source of each setting, but no secrets', () => {
  const { displayed } = readSettings({
    environment: {
      ESPALIER_DATABASE_URL: 'postgres://ann:walnut-cabin@db.example/tree',
      ESPALIER_MASTER_KEY: 'm'.repeat(40),
      ESPALIER_PORT: '',
    },
    flags: { host: '::1' },
  });
  const displayedSetting = (name: string) => {
    const { value, source, givenBy, isSecret } = displayed.find((each) => each.name === `ESPALIER_${name}`)!;
    return [value, source, givenBy, isSecret];
  };
  assert.equal(displayed.length, Object.keys(settingsTable).length);
  assert.deepEqual(displayedSetting('HOST'), ['::1', 'COMMAND_LINE', '--host', false]);
  assert.deepEqual(displayedSetting('PORT'), ['8080', 'DEFAULT', null, false]);
  const redactedUrl = 'postgres://…@db.example/tree';
  assert.deepEqual(displayedSetting('DATABASE_URL'), [
    redactedUrl,
    'ENVIRONMENT',
    'ESPALIER_DATABASE_URL',
    false,
  ]);
  assert.deepEqual(displayedSetting('MASTER_KEY'), [null, 'ENVIRONMENT', 'ESPALIER_MASTER_KEY', true]);
  assert.deepEqual(displayedSetting('ADMIN_PASSWORD'), [null, 'DEFAULT', null, true]);
});
