/** Starts the program as an operator does, in its own process, and checks its output and exit codes. */

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generate } from 'selfsigned';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { databaseKinds, postgres, type TestDatabase } from '../support/databases.ts';
import { program, runEspalier, runInHost } from '../support/espalier-command.ts';
import { redactPassword } from '../../server/src/config/redact-url.ts';
import { withoutSyncWarning } from '../postgres/sync-warning.ts';
import { parseLog, ProgramProcess } from './program-process.ts';

/** Without a master key, a start on PostgreSQL logs a warning. */
const masterKey = randomBytes(32).toString('base64');

describe('espalier serve', () => {
  let folder: string;
  let lastProcess: ProgramProcess | undefined;
  beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'espalier-start-'))));
  afterEach(async () => {
    await lastProcess?.end('SIGKILL');
    rmSync(folder, { recursive: true });
  });

  const start = (args: string[] = [], environment: Record<string, string> = {}, errors?: number) =>
    (lastProcess = new ProgramProcess(folder, ['serve', ...args], environment, errors));
  const run = (args: string[], environment: Record<string, string> = {}) =>
    (lastProcess = new ProgramProcess(folder, args, environment)).end();
  /**
   * Runs a command in the shared host process. The command must end by itself. Another test covers the exit
   * codes of real processes.
   */
  const runHosted = (args: string[]) => runInHost(args, {}, folder);

  for (const kind of databaseKinds) {
    describe(`on ${kind.name}`, () => {
      let database: TestDatabase;
      let databaseEnvironment: Record<string, string>;
      beforeEach(async () => {
        database = await kind.create();
        databaseEnvironment = { ESPALIER_DATABASE_URL: database.url, ESPALIER_MASTER_KEY: masterKey };
      });
      afterEach(() => database.remove());

      test('creates an installation at the first start, prints the password once, and prints how to log in', async () => {
        const first = start([], databaseEnvironment);
        const firstUrl = await first.waitUntilRunning();
        const password = /Password +(\S+)/.exec(first.output)![1]!;
        assert.equal(first.output.split(password).length, 2);
        assert.match(first.output, new RegExp(`^ {2}npx espalier login --url ${firstUrl}$`, 'm'));
        const profile = { XDG_CONFIG_HOME: folder };
        const args = ['login', '--url', firstUrl, '-u', 'admin', '--password-stdin'];
        const { code: loginCode } = await runEspalier(args, { environment: profile, input: password });
        assert.equal(loginCode, 0);
        const folders = await runInHost(['folder', 'list'], profile);
        assert.equal(folders.code, 0, folders.errors);
        const { code, errors } = await first.end('SIGTERM');
        assert.equal(code, 0);
        assert.deepEqual(
          parseLog(errors).map(({ msg, url, database, workers, route, signal }) => ({
            msg,
            ...(url && { url, workers }),
            ...(database && { database }),
            ...(route && { route }),
            ...(signal && { signal }),
          })),
          [
            {
              msg: 'created a new, empty installation',
              database: redactPassword(databaseEnvironment['ESPALIER_DATABASE_URL']!),
            },
            {
              msg: 'started',
              url: firstUrl,
              database: kind === postgres ? 'postgresql' : 'sqlite',
              workers: 1,
            },
            { msg: 'request', route: '/login' },
            { msg: 'request', route: '/graphql' },
            { msg: 'request', route: '/graphql' },
            { msg: 'stopping', signal: 'SIGTERM' },
            { msg: 'stopped' },
          ],
        );

        const second = start([], databaseEnvironment);
        const url = await second.waitUntilRunning();
        assert.ok(!second.output.includes(password));
        assert.doesNotMatch(second.output, /Password|First start/);
        assert.match(second.output, new RegExp(`^ {2}npx espalier login --url ${url}$`, 'm'));
        assert.match(second.output, new RegExp(`^ {2}Console    ${url}/console$`, 'm'));
        const console = await fetch(`${url}/console`);
        assert.ok(console.status === 200 || (await console.text()).includes('has not been built'));
        const curl = second.output.split('\n').find((line) => /^ +curl/.test(line))!;
        assert.match(execFileSync('sh', ['-c', curl], { encoding: 'utf8' }), /"openapi":"3.1.0"/);
        const login = await fetch(`${url}/login`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ username: 'admin', password }),
        });
        assert.equal(login.status, 200);
        assert.equal((await second.end('SIGINT')).code, 0);
      });

      test('takes the administrator from variables or a file and does not print the password', async () => {
        writeFileSync(join(folder, 'secret'), 'from a file, with spaces\n');
        const environment = {
          ...databaseEnvironment,
          ESPALIER_ADMIN_USERNAME: 'Root Admin',
          ESPALIER_ADMIN_PASSWORD_FILE: join(folder, 'secret'),
          ESPALIER_LOG_LEVEL: 'trace',
        };
        const server = start([], environment);
        const url = await server.waitUntilRunning();
        const login = await fetch(`${url}/login`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ username: 'Root Admin', password: 'from a file, with spaces' }),
        });
        assert.equal(login.status, 200);
        const { output, errors } = await server.end('SIGTERM');
        assert.match(errors, /"route":"\/login"/);
        assert.ok(!(output + errors).includes('from a file'));
      });

      test('stops with one error line before creating anything if the port is in use', async () => {
        const blocker = createServer().listen(0, '127.0.0.1');
        await once(blocker, 'listening');
        const { port } = blocker.address() as AddressInfo;
        const { code, output, errors } = await start(['--port', String(port)], databaseEnvironment).end();
        blocker.close();
        assert.equal(code, 1);
        assert.equal(output, '');
        assert.match(
          withoutSyncWarning(errors),
          new RegExp(
            `^espalier: Port ${port} on 127.0.0.1 is used by another program\\. Stop it, .*--port\\.\\n$`,
          ),
        );
      });

      test('creates one installation if several servers start concurrently for the first time', async () => {
        const programs = Array.from(
          { length: 4 },
          () => new ProgramProcess(folder, ['serve'], databaseEnvironment),
        );
        try {
          await Promise.all(programs.map((each) => each.waitUntilRunning()));
        } finally {
          await Promise.all(programs.map((each) => each.end('SIGTERM')));
        }
        assert.equal(programs.filter(({ output }) => output.includes('First start')).length, 1);
        for (const { errors, output } of programs) {
          assert.deepEqual(
            parseLog(errors).map(({ msg }) => msg),
            [
              ...(output.includes('First start') ? ['created a new, empty installation'] : []),
              'started',
              'stopping',
              'stopped',
            ],
          );
        }
      });

      test('creates the example tree of --demo once and never changes it again', async () => {
        const count = async (args: string[]) => {
          const server = start([...args, '--console', 'off'], {
            ...databaseEnvironment,
            ESPALIER_ADMIN_PASSWORD: 'a good password',
          });
          const url = await server.waitUntilRunning();
          assert.doesNotMatch(server.output, /Console/);
          const headers = { 'content-type': 'application/json' };
          const body = JSON.stringify({ username: 'admin', password: 'a good password' });
          const login = await fetch(`${url}/login`, { method: 'POST', headers, body });
          const { authToken } = (await login.json()) as { authToken: string };
          const foldersQuery = (depth: number): string =>
            depth === 0 ? '' : `folders{items{name ${foldersQuery(depth - 1)}}}`;
          const answer = await fetch(`${url}/graphql`, {
            method: 'POST',
            headers: { ...headers, authorization: `Bearer ${authToken}` },
            body: JSON.stringify({ query: `{folder{${foldersQuery(5)}}}` }),
          });
          const names = (await answer.text()).match(/"name"/g) ?? [];
          await server.end('SIGTERM');
          return names.length;
        };
        const firstCount = await count(['--demo']);
        assert.ok(firstCount >= 200, String(firstCount));
        assert.equal(await count(['--demo']), firstCount);
        assert.equal(await count([]), firstCount);
      });
    });
  }

  test('creates a database file that only its owner can access on SQLite', async () => {
    const server = start();
    await server.waitUntilRunning();
    assert.ok(existsSync(join(folder, 'espalier-data/espalier.db')));
    assert.equal(statSync(join(folder, 'espalier-data/espalier.db')).mode & 0o777, 0o600);
    assert.equal(statSync(join(folder, 'espalier-data')).mode & 0o777, 0o700);
    assert.equal((await server.end('SIGTERM')).code, 0);
  });

  test('keeps serving if the log cannot be written and nothing reads the output', async () => {
    const fullDevice = openSync('/dev/full', 'w');
    const server = start([], { ESPALIER_LOG_LEVEL: 'trace' }, fullDevice);
    closeSync(fullDevice);
    const url = await server.waitUntilRunning();
    server.closeOutput();
    for (let time = 0; time < 10; time++) assert.equal((await fetch(`${url}/readyz`)).status, 200);
    assert.equal((await server.end('SIGTERM')).code, 0);
  });

  test('warns about a weak password and about listening beyond loopback without TLS', async () => {
    const server = start(['--host', '0.0.0.0'], { ESPALIER_ADMIN_PASSWORD: 'short' });
    await server.waitUntilRunning();
    const { errors } = await server.end('SIGTERM');
    const warnings = parseLog(errors).filter(({ level }) => level === 40);
    assert.deepEqual(
      warnings.map(({ msg }) => msg.split(':')[0]),
      ['Listening on 0.0.0.0 without TLS', "The administrator's password has fewer than 8 characters"],
    );
    assert.ok(!errors.includes('short'));
  });

  test('warns about a wide range of trusted proxies', async () => {
    const server = start([], { ESPALIER_TRUST_PROXY: '10.0.0.0/8' });
    await server.waitUntilRunning();
    const { errors } = await server.end('SIGTERM');
    const warnings = parseLog(errors).filter(({ level }) => level === 40);
    assert.deepEqual(
      warnings.map(({ msg }) => msg.split(':')[0]),
      ['ESPALIER_TRUST_PROXY trusts 10.0.0.0/8'],
    );
  });

  test('warns about a password in the arguments, because other users can read it, and never prints it', async () => {
    const url = 'postgres://me:hunter2@127.0.0.1:1/tree';
    const warningPattern = /--database-url contains a password, which every user of this machine can read/g;
    for (const args of [['serve'], ['migrate'], ['signing-key', 'list'], ['doctor']]) {
      const { output, errors } = await run([...args, '--database-url', url]);
      assert.equal(
        (output + errors).match(warningPattern)?.length,
        1,
        `${args.join(' ')}: ${output}${errors}`,
      );
      assert.ok(!(output + errors).includes('hunter2'));
      const variableRun = await run(args, { ESPALIER_DATABASE_URL: url });
      assert.doesNotMatch(variableRun.output + variableRun.errors, warningPattern, args.join(' '));
    }
    const copyRun = await run(['copy', url, 'sqlite:./copy.db']);
    assert.match(copyRun.errors, /^espalier: warning: A URL contains a password/);
    assert.ok(!copyRun.errors.includes('hunter2'));
  });

  test('stops if a setting is invalid, and prints the value and the accepted values', async () => {
    const { code, output, errors } = await run(['serve'], { ESPALIER_PORT: 'eighty' });
    assert.equal(code, 2);
    assert.equal(output, '');
    assert.equal(
      errors,
      'espalier: Invalid value "eighty" for ESPALIER_PORT: use a whole number from 0 to 65535.\n',
    );
  });

  test('stops with one error line if the database file is not usable on SQLite', async () => {
    writeFileSync(
      join(folder, 'text.db'),
      'this is not a database, and long enough to be taken for one'.repeat(100),
    );
    for (const url of ['sqlite:text.db', 'sqlite:text.db/below/espalier.db', 'sqlite:.']) {
      const { code, errors } = await runHosted(['serve', '--database-url', url]);
      assert.equal(code, 1, url);
      assert.match(errors, /^espalier: (The|Cannot open the) database .*\n$/, url);
    }
  });

  test('suggests the nearest name for an unknown variable and an unknown flag', async () => {
    const { code, errors } = await run(['serve', '--prot', '1']);
    assert.equal(code, 2);
    assert.match(errors, /Unknown option '--prot'\. Did you mean --port\?/);
    const server = start([], { ESPALIER_LOGLEVEL: 'debug', ESPALIER_SERVICE_HOST: '10.0.0.1' });
    await server.waitUntilRunning();
    const result = await server.end('SIGTERM');
    assert.match(
      parseLog(result.errors)[0]!.msg,
      /ESPALIER_LOGLEVEL is not a setting .* Did you mean ESPALIER_LOG_LEVEL\?/,
    );
    assert.doesNotMatch(result.errors, /SERVICE_HOST/);
  });

  test('stops with one error line before creating anything if the TLS files are not usable', async () => {
    writeFileSync(join(folder, 'rubbish'), 'rubbish');
    const { cert, private: key } = await generate([{ name: 'commonName', value: 'localhost' }]);
    const other = await generate([{ name: 'commonName', value: 'localhost' }]);
    writeFileSync(join(folder, 'cert'), cert);
    writeFileSync(join(folder, 'key'), key);
    writeFileSync(join(folder, 'other'), other.private);
    for (const [certFile, keyFile, message] of [
      ['missing', 'key', /Cannot read missing \(ESPALIER_TLS_CERT_FILE\): the file does not exist\./],
      ['rubbish', 'key', /ESPALIER_TLS_CERT_FILE names rubbish, which contains no usable certificate/],
      ['cert', 'rubbish', /ESPALIER_TLS_KEY_FILE names rubbish, which contains no usable private key/],
      ['key', 'cert', /ESPALIER_TLS_CERT_FILE names key, which contains no usable certificate/],
      ['cert', 'other', /The key in other does not belong to the certificate in cert/],
    ] as const) {
      const { code, output, errors } = await runHosted([
        'serve',
        '--tls-cert-file',
        certFile,
        '--tls-key-file',
        keyFile,
      ]);
      assert.equal(code, 1);
      assert.equal(output, '');
      assert.match(errors, message);
      assert.equal(errors.split('\n').length, 2);
      assert.ok(!existsSync(join(folder, 'espalier-data')));
    }
  });

  test('runs from a clone without Node flags', () => {
    assert.match(
      execFileSync(process.execPath, [program, '--version'], { encoding: 'utf8' }),
      /^\d+\.\d+\.\d+\n$/,
    );
  });

  test('receives a signal that is sent to `npm start`', async () => {
    const root = new URL('../..', import.meta.url).pathname;
    const npm = spawn(
      'npm',
      ['start', '--', '--port', '0', '--database-url', `sqlite:${join(folder, 'e.db')}`],
      {
        cwd: root,
      },
    );
    const outputEnd = once(npm.stdout, 'close');
    let output = '';
    npm.stdout.on('data', (text: Buffer) => (output += text.toString()));
    while (!output.includes('Stop with Ctrl-C.')) await once(npm.stdout, 'data');
    npm.kill('SIGTERM');
    // The pipe closes when the last process that holds it ends.
    await outputEnd;
    assert.match(output, /Stopping/);
  });

  test('lists every command and setting in the help', async () => {
    assert.match((await runHosted([])).output, /serve +Run the server/);
    assert.match(
      (await runHosted(['serve', '--help'])).output,
      /--auth-token-seconds <seconds>[^]*\(env:\s+ESPALIER_AUTH_TOKEN_SECONDS;\s+default:\s+600\)/,
    );
    assert.match((await runHosted(['help', 'serve'])).output, /--admin-password-file <path>/);
    for (const args of [['folder'], ['folder', 'move'], ['journal']]) {
      const { output } = await runHosted([...args, '--help']);
      assert.match(output, new RegExp(`^Usage: espalier ${args.join(' ')} `));
      const [group = '', ...verbs] = args;
      assert.equal((await runHosted([group, 'help', ...verbs])).output, output);
    }
    assert.match((await runHosted(['--help'])).output, /^ {2}help +Show the help of a command$/m);
    assert.equal(
      (await runHosted(['docs', 'deploy'])).output,
      (await runHosted(['docs', 'deployment'])).output,
    );
    for (const args of [['--version'], ['version'], ['serve', '--version']]) {
      assert.match((await runHosted(args)).output, /^\d+\.\d+\.\d+\n$/);
    }
    assert.equal((await runHosted(['constructor'])).code, 2);
    for (const args of [['sevre'], ['sevre', '--help'], ['help', 'sevre']]) {
      const { code, errors } = await runHosted(args);
      assert.equal(code, 2);
      assert.match(errors, /^espalier: Unknown command 'sevre'\. Did you mean serve\?/);
    }
    assert.equal((await runHosted(['folder', 'lits', '--help'])).code, 2);
    assert.doesNotMatch((await runHosted(['doctor', '--help'])).output, /--max-folders/);
  });
});
