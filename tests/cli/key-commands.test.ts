/** `espalier key` and `ESPALIER_API_KEY`: keys for programs, and commands that use a key instead of a login. */

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { databaseKinds, sqlite } from '../support/databases.ts';
import { runInHost } from '../support/espalier-command.ts';
import { CommandTestbed } from './command-testbed.ts';

interface Key {
  readonly key: string;
  readonly id: string;
  readonly start: string;
  readonly expiresAt: string | null;
  readonly state: string;
  readonly user: { readonly username: string };
}

const keyText = /^esp_[\dA-Za-z]{54}$/;

for (const kind of databaseKinds) {
  describe(`key commands on ${kind.name}`, () => {
    let testbed: CommandTestbed;
    before(async () => {
      testbed = await CommandTestbed.start(kind);
      await testbed.runOk('folder', 'create', '/Places/Room', '--parents');
      await testbed.runOk('folder', 'create', '/Secret');
      await testbed.runOk('user', 'create', 'robot', '--service');
      await testbed.runOk('grant', 'create', '/Places', 'write', '--user', 'robot');
    });
    after(() => testbed.stop());

    /** Each key has another time, by which lists are ordered. */
    const create = (name: string, ...more: string[]) => {
      testbed.people.server.clock.advanceSeconds(1);
      return testbed.json<Key>('key', 'create', name, ...more);
    };
    /** Runs a command with a key, and without a stored login. */
    const runWith = (key: string, args: readonly string[], more: Record<string, string> = {}) =>
      runInHost(args, {
        PATH: process.env['PATH'] ?? '',
        XDG_CONFIG_HOME: join(testbed.folder, 'empty'),
        ESPALIER_URL: testbed.people.server.url,
        ESPALIER_API_KEY: key,
        ...more,
      });
    const outputWith = async (key: string, ...args: string[]) => {
      const { code, output, errors } = await runWith(key, args);
      assert.deepEqual({ code, errors }, { code: 0, errors: '' });
      return output;
    };
    const refusedWith = async (key: string, ...args: string[]) => {
      const { code, output, errors } = await runWith(key, args);
      assert.equal(output, '');
      assert.ok(!errors.includes(key) || key === '', errors);
      return `${code}: ${errors.replace(/^espalier: /, '').trimEnd()}`;
    };

    test('print a new key alone on standard output, and describe it on standard error', async () => {
      const { code, output, errors } = await testbed.run('key', 'create', 'deploy', '--user', 'robot');
      assert.equal(code, 0);
      assert.match(output.trimEnd(), keyText);
      assert.match(
        errors,
        /^Created for robot: API key deploy \(esp_\w+…\): READ\. It expires on 20\d\d-\d\d-\d\d \d\d:\d\d UTC\. Its id is [\w-]{36}\.\nSave the key now/,
      );
      assert.ok(!errors.includes(output.trimEnd()));
    });

    test('let a program use the server without a login', async () => {
      const { key } = await create('sync', '--user', 'robot', '--level', 'write', '--folder', '/Places');
      assert.match(key, keyText);
      assert.match(await outputWith(key, 'folder', 'list', '/'), /^Places\b/);
      await outputWith(key, 'folder', 'create', '/Places/By robot');
      assert.match(
        await refusedWith(key, 'folder', 'list', '/Secret'),
        /^1: There is no folder \/Secret, or you/,
      );
      assert.match(
        await outputWith(key, 'whoami'),
        /^robot \(service account\) at http\S+\nAPI key sync \(esp_\w+…\): WRITE in \/Places\. It expires on /,
      );
      const { session, apiKey } = JSON.parse(await outputWith(key, 'whoami', '--json')) as Record<
        string,
        unknown
      >;
      assert.equal(session, null);
      assert.equal((apiKey as Key).state, 'ACTIVE');
    });

    test('list, show and revoke keys', async () => {
      const first = await create('first', '--never-expires');
      const second = await create('second', '--network', '192.0.2.7', '--network', '2001:db8::/32');
      const other = await create('other', '--user', 'robot');
      const own = await testbed.json<Key[]>('key', 'list');
      assert.deepEqual(
        own.map(({ id }) => id),
        [second.id, first.id],
      );
      assert.equal((await testbed.json<Key[]>('key', 'list', '--user', 'robot'))[0]!.id, other.id);
      assert.ok((await testbed.json<Key[]>('key', 'list', '--all')).some(({ id }) => id === other.id));
      assert.match(
        await testbed.runOk('key', 'list'),
        /^Id +Key +Name +User +Rights +State +Expires \(UTC\) +Last use \(UTC\)\n/,
      );
      const shown = await testbed.runOk('key', 'show', second.id);
      assert.match(shown, /^Networks: +192\.0\.2\.7\/32, 2001:db8::\/32$/m);
      assert.match(shown, /^Last use: +never$/m);
      assert.match(await testbed.runOk('key', 'show', first.id), /^Expires: +never$/m);
      const missing = '019a1b2c-3d4e-7f50-8a6b-7c8d9e0f1a2b';
      assert.match(await testbed.runRefused('key', 'show', missing), /^1: There is no API key/);
      const { code, output, errors } = await testbed.run('key', 'revoke', first.id, missing, second.id);
      assert.deepEqual({ code, output }, { code: 1, output: 'Keys revoked: 2.\n' });
      assert.match(errors, new RegExp(`^espalier: There is no API key ${missing}, or you may not revoke it`));
      assert.match(
        await refusedWith(first.key, 'whoami'),
        /^3: This API key was revoked\. The key is from ESPALIER_API_KEY\.$/,
      );
      for (const { key } of [first, second, other]) assert.ok(!shown.includes(key));
    });

    test('revoke the key of the command last', async () => {
      const strong = await create('strong', '--administrator');
      const other = await create('victim', '--user', 'robot');
      assert.equal(await outputWith(strong.key, 'key', 'revoke', strong.id, other.id), 'Keys revoked: 2.\n');
      assert.match(await refusedWith(other.key, 'whoami'), /^3: /);
    });

    test('refuse a weak key what only a login or an administrator may do', async () => {
      const { key } = await create('weak', '--level', 'manage');
      assert.match(await refusedWith(key, 'key', 'create', 'x'), /^1: This API key cannot create API keys/);
      assert.match(
        await refusedWith(key, 'session', 'list'),
        /^1: An API key can read sessions, sign-ins, linked accounts and API keys only if it acts as administrator/,
      );
      assert.match(await refusedWith(key, 'user', 'list'), /^1: /);
      const strong = await create('admin', '--administrator');
      assert.match(await outputWith(strong.key, 'session', 'list', '--all'), /^\*? *Id/);
      const [{ id }] = JSON.parse(await outputWith(strong.key, 'session', 'list', '--all', '--json')) as [
        { id: string },
      ];
      assert.match(await outputWith(strong.key, 'session', 'show', id), /^Id: /);
      assert.match(await outputWith(strong.key, 'whoami'), /: administrator\. It expires/);
    });
  });
}

describe(`ESPALIER_API_KEY on ${sqlite.name}`, () => {
  let testbed: CommandTestbed;
  let key: string;
  before(async () => {
    testbed = await CommandTestbed.start(sqlite);
    ({ key } = await testbed.json<Key>('key', 'create', 'mine'));
  });
  after(() => testbed.stop());

  const run = (args: readonly string[], environment: Record<string, string>) =>
    runInHost(args, { ...testbed.environment, ...environment });
  const refused = async (args: readonly string[], environment: Record<string, string>) => {
    const { code, errors } = await run(args, environment);
    return `${code}: ${errors.replace(/^espalier: /, '').trimEnd()}`;
  };

  test('replaces the stored login, and keeps its server', async () => {
    assert.match(
      (await run(['whoami'], { ESPALIER_API_KEY: key })).output,
      /^admin at http\S+\nAPI key mine/,
    );
    assert.match((await run(['whoami'], { ESPALIER_API_KEY: ` ${key}\r\n` })).output, /\nAPI key mine/);
    assert.match((await run(['whoami'], { ESPALIER_API_KEY: '' })).output, /\nLogged in since/);
  });

  test("does not change the user's own password, which the command says before it asks", async () => {
    const error =
      /^1: You cannot change your own password with an API key\. Log in with 'espalier login' first\.$/;
    assert.match(await refused(['user', 'password'], { ESPALIER_API_KEY: key }), error);
    assert.match(await refused(['user', 'password', 'admin'], { ESPALIER_API_KEY: key }), error);
  });

  test('can be in a file', async () => {
    const path = testbed.writeTempFile(`${key}\n`);
    assert.match((await run(['whoami'], { ESPALIER_API_KEY_FILE: path })).output, /\nAPI key mine/);
    assert.match((await run(['--api-key-file', path, 'whoami'], {})).output, /\nAPI key mine/);
    // A pipe, for example of a process substitution, can be read only once.
    const pipe = `${path}.pipe`;
    execFileSync('mkfifo', [pipe]);
    const written = writeFile(pipe, `${key}\n`);
    assert.match((await run(['--api-key-file', pipe, 'whoami'], {})).output, /\nAPI key mine/);
    await written;
    rmSync(path);
    assert.match(
      await refused(['whoami'], { ESPALIER_API_KEY_FILE: path }),
      /^1: Cannot read .*_API_KEY_FILE/,
    );
    assert.match(
      await refused(['whoami'], { ESPALIER_API_KEY_FILE: path, ESPALIER_API_KEY: key }),
      /^2: .*are both set/,
    );
  });

  test('is refused if it is not an API key, without repeating it', async () => {
    for (const wrong of ['walnut-cabin-of-mine', `${key}-`, `Bearer ${key}`]) {
      const message = await refused(['whoami'], { ESPALIER_API_KEY: wrong });
      assert.match(message, /^2: .*ESPALIER_API_KEY.* API key, which starts with esp_/);
      assert.ok(!message.includes(wrong));
    }
    for (const message of [
      await refused(['whoami'], { ESPALIER_API_KEY_FILE: key }),
      await refused(['whoami', '--api-key-file', key.slice(0, -1)], {}),
    ]) {
      assert.match(message, /^2: .*(api-key-file|API_KEY_FILE) is an API key\. Set it to the name of a file/);
      assert.ok(!message.includes(key.slice(0, -1)));
    }
    const message = await refused(['whoami'], { ESPALIER_API_KEY: key.slice(0, -1) });
    assert.match(message, /^3: This API key has a wrong form or checksum/);
  });

  test('is checked by espalier doctor', async () => {
    const { url } = testbed.people.server;
    const check = async (environment: Record<string, string>, checkedUrl = url) => {
      const { output } = await run(['doctor', '--json', '--url', checkedUrl], environment);
      assert.ok(!output.includes(key));
      const { findings } = JSON.parse(output) as {
        findings: { subject: string; state: string; text: string }[];
      };
      return findings.flatMap(({ subject, state, text }) =>
        subject === 'API key' ? `${state}: ${text}` : [],
      );
    };
    assert.deepEqual(await check({}), []);
    assert.match(
      (await check({ ESPALIER_API_KEY: key })).join(),
      /^ok: API key mine \(esp_\w+…\): READ\. It exp/,
    );
    const soon = await testbed.json<Key>('key', 'create', 'soon', '--expires', '7d');
    assert.match(
      (await check({ ESPALIER_API_KEY: soon.key })).join(),
      /^warning: API key soon .* It expires on/,
    );
    await testbed.runOk('key', 'revoke', soon.id);
    assert.deepEqual(await check({ ESPALIER_API_KEY: soon.key }), [
      'problem: The server does not accept the API key from ESPALIER_API_KEY. This API key was revoked.',
    ]);
    assert.match(
      (await check({ ESPALIER_API_KEY: 'walnut' })).join(),
      /^problem: Invalid value for ESPALIER_API/,
    );
    assert.match(
      (await check({ ESPALIER_API_KEY: key }, 'http://127.0.0.1:9')).join(),
      /^skipped: The API key from ESPALIER_API_KEY was not checked, because the server does not respond\.$/,
    );
  });

  test('is not sent by espalier doctor to a program that is not Espalier', async (context) => {
    const received: string[] = [];
    const program = createServer(({ url = '', headers }, response) => {
      received.push(`${url} ${headers.authorization ?? ''}`);
      response.end('{"status":"fine"}');
    });
    context.after(() => program.close());
    await once(program.listen(0, '127.0.0.1'), 'listening');
    const { port } = program.address() as AddressInfo;
    await run(['doctor', '--url', `http://127.0.0.1:${port}`], { ESPALIER_API_KEY: key });
    assert.ok(received.length > 0 && !received.some((request) => request.includes('esp_')), received.join());
  });

  test('excludes --profile, login and logout', async () => {
    const environment = { ESPALIER_API_KEY: key };
    assert.match(
      await refused(['whoami', '--profile', 'staging'], environment),
      /^2: --profile selects a stored login, but commands use the API key from ESPALIER_API_KEY/,
    );
    assert.match(
      await refused(['login', '--password-stdin'], environment),
      /^2: ESPALIER_API_KEY is set, .*unset it/,
    );
    const profile = join(testbed.folder, 'espalier', 'profiles', 'default.json');
    const before = readFileSync(profile, 'utf8');
    assert.match(
      await refused(['logout'], environment),
      /^2: ESPALIER_API_KEY is set, .*espalier key revoke <id>/,
    );
    assert.equal(readFileSync(profile, 'utf8'), before);
    assert.match(await refused(['login', '--api-key-file', 'x'], {}), /^2: Unknown option '--api-key-file'/);
  });

  test('is refused with the reason by a server without this key', async () => {
    const unknown = `esp_${'0'.repeat(54)}`;
    assert.match(await refused(['folder', 'list'], { ESPALIER_API_KEY: unknown }), /^3: This API key has a/);
    const { code, errors } = await run(['folder', 'list', '--json'], { ESPALIER_API_KEY: unknown });
    assert.equal(code, 3);
    assert.equal((JSON.parse(errors) as { error: { code: string } }).error.code, 'INVALID_API_KEY');
  });

  test('of `espalier key create` has an expiry that the options set', async () => {
    const now = Date.now();
    const expiryOf = async (...options: string[]) =>
      (await testbed.json<Key>('key', 'create', 'x', ...options)).expiresAt;
    const days = (at: string | null) => Math.round((Date.parse(at!) - now) / 86_400_000);
    assert.equal(days(await expiryOf()), 90);
    assert.equal(days(await expiryOf('--expires', '7d')), 7);
    assert.equal(await expiryOf('--expires', '2030-01-31'), '2030-01-31T00:00:00.000Z');
    assert.equal(await expiryOf('--never-expires'), null);
    const wrong = (...options: string[]) => testbed.runRefused('key', 'create', 'x', ...options);
    for (const text of [
      '7',
      '7h',
      '0d',
      '9999d',
      'soon',
      '2030-02-30',
      '2030-01-31 25:00',
      '2020-01-01',
      '2999-01-01',
    ]) {
      assert.match(
        await wrong('--expires', text),
        /^2: Invalid value "[^"]+" for --expires: use a number of days such as 30d, or a later time/,
      );
    }
    assert.match(await wrong('--expires', '7d', '--never-expires'), /^2: .*cannot be used with/);
    assert.match(await wrong('--administrator', '--folder', '/'), /^2: .*cannot be used with/);
    assert.match(await wrong('--level', 'none'), /^2: .*read, write, manage/);
    assert.match(await wrong('--network', 'here'), /^1: The network "here" must be an IP address or a CIDR/);
    assert.match(await wrong('--folder', '/Nowhere'), /^1: There is no folder/);
  });

  test('in place of an id is refused, without repeating it', async () => {
    const message = await testbed.runRefused('key', 'revoke', key);
    assert.match(message, /^2: This is an API key\. Use its id/);
    assert.ok(!message.includes(key));
    const shown = await testbed.runRefused('key', 'show', key);
    assert.ok(!shown.includes(key));
  });

  test('cannot be named by its name, which is not unique', async () => {
    for (const command of ['show', 'revoke']) {
      assert.equal(
        await testbed.runRefused('key', command, 'mine'),
        `2: "mine" is not the id of an API key. 'espalier key list' prints the ids.`,
      );
    }
  });

  test('is not confused with a signing key', async () => {
    assert.match(
      await testbed.runRefused('keys', 'list'),
      /^2: .*Did you mean key \(API keys\) or signing-key\?/,
    );
  });
});

describe(`service accounts on ${sqlite.name}`, () => {
  let testbed: CommandTestbed;
  before(async () => (testbed = await CommandTestbed.start(sqlite)));
  after(() => testbed.stop());

  test('are created without a password, and displayed as service accounts', async () => {
    assert.equal(
      await testbed.runOk('user', 'create', 'robot', '--service'),
      'Created the service account robot.\n',
    );
    assert.match(await testbed.runOk('user', 'list'), /^robot +service account +enabled/m);
    assert.match(await testbed.runOk('user', 'show', 'robot'), /^Role: +service account$/m);
    assert.match(
      await testbed.runRefused('user', 'create', 'x', '--service', '--generate'),
      /^2: .*cannot be used with/,
    );
    assert.match(
      await testbed.runRefused('user', 'password', 'robot', '--generate'),
      /^1: robot is a service account/,
    );
  });

  test('can be made from a user, after confirmation', async () => {
    const person = await testbed.people.createUser({ username: 'old-robot' });
    await testbed.logIn(person);
    const profile = ['--profile', person.username];
    const personal = await testbed.json<Key>('key', 'create', 'mine', ...profile);
    assert.match(await testbed.runRefused('user', 'convert-to-service', 'old-robot'), /^2: This cannot be/);
    assert.equal(
      await testbed.runOk('user', 'convert-to-service', 'old-robot', '--yes'),
      'old-robot is a service account and can no longer log in.\n',
    );
    assert.equal((await testbed.people.server.post('/login', person)).status, 401);
    const withKey = { ...testbed.environment, ESPALIER_API_KEY: personal.key };
    assert.match((await runInHost(['whoami'], withKey)).output, /^old-robot \(service account\)/);
    assert.equal((await runInHost(['key', 'revoke', personal.id], withKey)).output, 'Keys revoked: 1.\n');
    assert.equal((await runInHost(['whoami'], withKey)).code, 3);
    const { code, output } = await testbed.run('key', 'create', 'next', '--user', 'old-robot');
    assert.equal(code, 0);
    assert.match(output.trimEnd(), keyText);
  });
});
