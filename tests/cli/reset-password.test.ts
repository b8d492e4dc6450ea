/** `espalier user password --on-database` replaces a forgotten password while a server uses the database. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../support/databases.ts';
import { runEspalier, type CommandOptions } from '../support/espalier-command.ts';
import { SocketClient } from '../live/socket-client.ts';
import { administrator, TestClock, Testbed } from '../support/testbed.ts';

interface Entry {
  readonly kind: string;
  readonly by: { readonly username: string } | null;
}

for (const kind of databaseKinds) {
  describe(`espalier user password --on-database on ${kind.name}`, () => {
    let folder: string;
    let testbed: Testbed;
    let password = administrator.password;
    before(async () => {
      folder = mkdtempSync(join(tmpdir(), 'espalier-reset-'));
      const clock = new TestClock();
      clock.advanceSeconds((Date.now() - clock.now()) / 1000);
      testbed = await Testbed.start(kind, { clock });
    });
    after(async () => {
      await testbed.stop();
      rmSync(folder, { recursive: true });
    });

    const run = (args: readonly string[], options: CommandOptions = {}) =>
      runEspalier(['user', 'password', '--on-database', ...args], {
        environment: { ESPALIER_DATABASE_URL: testbed.database.url },
        ...options,
      });
    const logIn = (sentPassword: string) =>
      testbed.post('/login', { username: 'admin', password: sentPassword });

    test('reads the password from a pipe, ends sessions and sockets, and writes to the journal', async () => {
      const tokens = await testbed.logIn();
      const socket = await SocketClient.connect(testbed.url, tokens.authToken);
      password = `a new one ${randomUUID()}`;
      const { code, output } = await run(['ADMIN', '--password-stdin'], { input: `${password}\n` });
      assert.equal(code, 0);
      assert.equal(output, 'admin, an administrator, has a new password. 1 session has ended.\n');
      assert.deepEqual(await socket.closed(), { code: 4403, reason: 'INVALID_AUTH_TOKEN' });
      assert.equal((await testbed.query('{folder{name}}', tokens.authToken)).status, 401);
      assert.equal((await testbed.refresh(tokens)).status, 401);
      assert.equal((await logIn(administrator.password)).status, 401);
      const { authToken } = (await logIn(password)).json<{ authToken: string }>();
      const { items } = (
        await testbed.query('{journal(first: 5){items{kind by{username}}}}', authToken)
      ).json<{
        data: { journal: { items: Entry[] } };
      }>().data.journal;
      for (const expected of ['CHANGE_PASSWORD', 'END_SESSION']) {
        assert.ok(
          items.some((entry) => entry.kind === expected && entry.by === null),
          expected,
        );
      }
    });

    test('reads the password from a file, or generates a valid one and prints it once', async () => {
      const passwordInFile = `in a file ${randomUUID()}`;
      writeFileSync(join(folder, 'password'), `${passwordInFile}\n`);
      assert.equal((await run(['admin', '--password-file', join(folder, 'password')])).code, 0);
      assert.equal((await logIn(passwordInFile)).status, 200);
      const { code, output } = await run(['admin', '--generate']);
      assert.equal(code, 0);
      [, password = ''] = /\n {2}Password {2}(\S+) {3}\(shown only this once\)\n/.exec(output)!;
      assert.equal((await logIn(password)).status, 200);
    });

    test('keeps a disabled user disabled and reports it, unless --enable is used', async () => {
      const { authToken } = (await logIn(password)).json<{ authToken: string }>();
      const anna = { username: 'anna', password: `walnut cabin ${randomUUID()}` };
      const created = await testbed.query(
        'mutation($input: CreateUserInput!){createUser(input: $input){user{id}}}',
        authToken,
        { input: anna },
      );
      const { id } = created.json<{ data: { createUser: { user: { id: string } } } }>().data.createUser.user;
      const disable = `mutation{updateUser(input:{id:"${id}",isDisabled:true}){user{id}}}`;
      assert.equal((await testbed.query(disable, authToken)).status, 200);
      const credentials = { ...anna, password: `another cabin ${randomUUID()}` };
      const input = credentials.password;
      const { output } = await run(['anna', '--password-stdin'], { input });
      assert.match(
        output,
        /^anna has a new password\. The user had no sessions\.\nThe user is disabled.*--enable/,
      );
      assert.equal((await testbed.post('/login', credentials)).status, 401);
      const enableRun = await run(['anna', '--password-stdin', '--enable', '--json'], { input });
      assert.deepEqual(JSON.parse(enableRun.output), {
        id,
        username: 'anna',
        isDisabled: false,
        endedSessions: 0,
      });
      assert.equal((await testbed.post('/login', credentials)).status, 200);
    });

    test('refuses invalid input with one line and changes nothing', async () => {
      for (const [args, input, code, expected] of [
        [[], '', 2, /--on-database needs the name of a user/],
        [['nobody', '--generate'], '', 1, /There is no user "nobody"\. Administrators are "admin"\./],
        [['admin'], '', 2, /There is no terminal/],
        [['admin', '--password-stdin'], '', 1, /The password is empty/],
        [['admin', '--password-stdin'], 'short', 1, /8 to 128 characters/],
        [['admin', '--password-stdin'], 'password1', 1, /one of the most common/],
        [['admin', '--password', 'x'], '', 2, /Unknown option '--password'\. Did you mean --password-file/],
        [['admin', '--generate', '--password-stdin'], 'x', 2, /'--generate' cannot be used with/],
        [
          ['admin', '--password-file', join(folder, 'none')],
          '',
          1,
          /Cannot read \S+ \(--password-file\): the file does not exist\./,
        ],
        [['admin', '--url', 'http://127.0.0.1:9', '--generate'], '', 2, /--url has no effect with/],
      ] as const) {
        const result = await run(args, { input });
        assert.match(result.errors, expected);
        assert.match(result.errors, /^espalier: [^\n]+\n$/);
        assert.equal(result.output, '');
        assert.equal(result.code, code, result.errors);
      }
      assert.equal((await logIn(password)).status, 200);
    });
  });
}
