/** `espalier login`, `logout` and `whoami`: a session is stored for later commands, and only its owner can use it. */

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { sqlite } from '../support/databases.ts';
import { runEspalier } from '../support/espalier-command.ts';
import { findFreePort } from '../support/free-port.ts';
import { administrator } from '../support/testbed.ts';
import { CliTestbed } from './cli-testbed.ts';
import { ctrlC, runOnTerminal, type Step } from './pseudo-terminal.ts';

/** Larger than any process id. */
const unusedPid = 2 ** 22 + 1;

describe('a stored login', () => {
  let testbed: CliTestbed;
  before(async () => (testbed = await CliTestbed.start(sqlite)));
  after(() => testbed.stop());

  /** The environment of another user of the machine, who uses the same server but no common files. */
  const environmentOf = (name: string) => ({ XDG_CONFIG_HOME: join(testbed.folder, name) });
  const logIn = (name: string, more: string[] = [], password = administrator.password) =>
    testbed.run(['login', '--url', testbed.tree.server.url, '-u', 'admin', '--password-stdin', ...more], {
      input: password,
      environment: environmentOf(name),
    });
  const profileIn = (name: string) => join(testbed.folder, name, 'espalier/profiles/default.json');

  test('is readable by its owner only and never printed', async () => {
    assert.equal(statSync(testbed.profile).mode & 0o777, 0o600);
    assert.equal(statSync(dirname(testbed.profile)).mode & 0o777, 0o700);
    assert.deepEqual(readdirSync(dirname(testbed.profile)), ['default.json']);
    assert.match(await testbed.output('whoami'), /^admin \(administrator\) at http:\/\/127/);
    const { user, url } = await testbed.json<{ user: { username: string }; url: string }>('whoami');
    assert.deepEqual([user.username, url], ['admin', testbed.tree.server.url]);
  });

  test('is created with a user name and a password from a terminal, which does not show the password', async () => {
    const args = ['login', '--url', testbed.tree.server.url];
    const { code, text } = await runOnTerminal(args, { ...testbed.environment, ...environmentOf('asked') }, [
      [/User name/, 'admin\r'],
      [/Password of admin at http/, `${administrator.password}\r`],
    ]);
    assert.equal(code, 0, text);
    assert.match(text, /Logged in as admin at http/);
    assert.doesNotMatch(text, new RegExp(administrator.password));
    assert.ok(existsSync(profileIn('asked')));
  });

  test('is not created after Ctrl-C at a prompt', async () => {
    const args = ['login', '--url', testbed.tree.server.url];
    const user: Step = [/User name/, 'admin\r'];
    for (const steps of [[[/User name/, ctrlC]], [user, [/Password of admin/, ctrlC]]] as Step[][]) {
      const { code, text } = await runOnTerminal(
        args,
        { ...testbed.environment, ...environmentOf('left') },
        steps,
      );
      assert.equal(code, 130, text);
      assert.equal(existsSync(profileIn('left')), false);
    }
  });

  test('is removed by logout, locally and on the server', async () => {
    await logIn('leaving');
    const { tokens } = JSON.parse(readFileSync(profileIn('leaving'), 'utf8')) as {
      tokens: { authToken: string; refreshToken: string };
    };
    const run = (...args: string[]) => testbed.run(args, { environment: environmentOf('leaving') });
    const { code, output } = await run('logout');
    assert.deepEqual([code, output], [0, `Logged out admin at ${testbed.tree.server.url}.\n`]);
    const profile: unknown = JSON.parse(readFileSync(profileIn('leaving'), 'utf8'));
    assert.deepEqual(profile, { url: testbed.tree.server.url, username: 'admin' });
    assert.equal((await testbed.tree.server.refresh(tokens)).status, 401);
    const [secondLogout, who] = await Promise.all([run('logout'), run('whoami')]);
    assert.deepEqual([secondLogout.code, secondLogout.output], [0, 'You are not logged in.\n']);
    assert.deepEqual(
      [who.code, who.errors],
      [3, `espalier: You are not logged in. Run 'espalier login --url ${testbed.tree.server.url}'.\n`],
    );
    // The next login uses the same server instead of the default address.
    const relogin = await testbed.run(['login', '-u', 'admin', '--password-stdin'], {
      input: administrator.password,
      environment: environmentOf('leaving'),
    });
    assert.deepEqual(
      [relogin.code, relogin.output],
      [0, `Logged in as admin at ${testbed.tree.server.url}.\n`],
    );
  });

  test('is reported as missing in JSON, with a code, if the command prints JSON', async () => {
    const { code, output, errors } = await testbed.run(['whoami', '--json'], {
      environment: environmentOf('nobody'),
    });
    assert.deepEqual([code, output], [3, '']);
    assert.deepEqual(JSON.parse(errors), {
      error: { code: 'LOGGED_OUT', message: "You are not logged in. Run 'espalier login'." },
    });
  });

  test('is selected by its profile', async () => {
    const { code } = await logIn('several', ['--profile', 'work']);
    assert.equal(code, 0);
    const [named, usual] = await Promise.all([
      testbed.run(['whoami', '--profile', 'work'], { environment: environmentOf('several') }),
      testbed.run(['whoami'], { environment: environmentOf('several') }),
    ]);
    assert.deepEqual([named.code, usual.code], [0, 3]);
    const other = await testbed.run(['whoami', '--profile', 'home'], {
      environment: environmentOf('several'),
    });
    assert.equal(
      other.errors,
      "espalier: You are not logged in with the profile home. Run 'espalier login --profile home --url <url>'.\n",
    );
  });

  test('is logged out on the server when another login replaces it', async () => {
    const tokensOf = (name: string) =>
      (JSON.parse(readFileSync(profileIn(name), 'utf8')) as { tokens: Parameters<typeof refresh>[0] }).tokens;
    const refresh = testbed.tree.server.refresh.bind(testbed.tree.server);
    await logIn('replaced');
    const first = tokensOf('replaced');
    const { code, errors } = await logIn('replaced');
    assert.deepEqual([code, errors], [0, '']);
    assert.equal((await refresh(first)).status, 401);
    assert.equal((await refresh(tokensOf('replaced'))).status, 200);
  });

  test('is valid for one server only', async () => {
    const { code, errors } = await testbed.run(['whoami', '--url', 'http://127.0.0.1:9']);
    assert.equal(code, 3);
    assert.match(
      errors,
      /^espalier: The stored session is for .*, not for http:\/\/127.0.0.1:9. Run 'espalier login --url http:\/\/127.0.0.1:9'.\n$/,
    );
  });

  test('stays unchanged when a login with a wrong password is refused', async () => {
    const { code, errors } = await testbed.run(['login', '-u', 'admin', '--password-stdin'], {
      input: 'wrong one',
    });
    assert.deepEqual([code, errors], [3, 'espalier: The user name or the password is wrong.\n']);
    assert.match(await testbed.output('whoami'), /^admin/);
  });

  test('is replaced if its file is damaged', async () => {
    const file = profileIn('damaged');
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, '{"url": "http://127.0.0.1:9", "tokens"', { mode: 0o600 });
    const { code, errors } = await testbed.run(['whoami'], { environment: environmentOf('damaged') });
    assert.equal(code, 3);
    assert.match(
      errors,
      /^espalier: The file .*default.json does not contain a valid session. Run 'espalier login --url <url>'.\n$/,
    );
    const withoutUrl = await testbed.run(['login', '-u', 'admin', '--password-stdin'], {
      input: administrator.password,
      environment: environmentOf('damaged'),
    });
    assert.equal(withoutUrl.code, 2);
    assert.match(
      withoutUrl.errors,
      /the server of the last login is unknown\. Specify the server with --url\.\n$/,
    );
    assert.equal((await logIn('damaged')).code, 0);
  });

  test('gets its permissions corrected, with a warning, if others could read it', async () => {
    await logIn('open');
    chmodSync(profileIn('open'), 0o644);
    const whoami = () => testbed.run(['whoami'], { environment: environmentOf('open') });
    const first = await whoami();
    assert.equal(first.code, 0);
    assert.match(
      first.errors,
      /^espalier: Other users could read your session in .* Only you can read it now.\n$/,
    );
    assert.equal(statSync(profileIn('open')).mode & 0o777, 0o600);
    assert.equal((await whoami()).errors, '');
  });

  test('is not created on a full disk, and the command ends its session on the server', async () => {
    const countSessions = async () =>
      (await testbed.tree.query<{ sessions: { totalCount: number } }>('{sessions{totalCount}}')).sessions
        .totalCount;
    const before = await countSessions();
    const { code, errors } = await testbed.run(
      ['login', '--url', testbed.tree.server.url, '-u', 'admin', '--password-stdin'],
      { input: administrator.password, environment: environmentOf('full'), maxFileBytes: 0 },
    );
    assert.equal(code, 1);
    assert.match(errors, /^espalier: Cannot store the session in .*: .*\n$/);
    assert.deepEqual(readdirSync(dirname(profileIn('full'))), []);
    assert.equal(await countSessions(), before);
  });

  test('is refreshed only once by concurrent commands, even if the last holder of the lock was killed', async () => {
    await logIn('shared');
    const readRefreshes = async () => {
      const { sessions } = await testbed.tree.query<{
        sessions: { items: { refreshes: { replays: number }[] }[] };
      }>('{sessions{items{refreshes{replays}}}}');
      return sessions.items.flatMap((session) => session.refreshes);
    };
    testbed.tree.server.clock.advanceSeconds(601);
    ({ authToken: testbed.tree.authToken } = await testbed.tree.server.logIn());
    const before = await readRefreshes();
    writeFileSync(`${profileIn('shared')}.lock`, `${unusedPid} ${hostname()}\n`);
    const all = await Promise.all(
      [1, 2, 3].map(() => testbed.run(['whoami'], { environment: environmentOf('shared') })),
    );
    for (const { code, errors } of all) assert.deepEqual([code, errors], [0, '']);
    const after = await readRefreshes();
    assert.equal(after.length, before.length + 1);
    assert.ok(after.every(({ replays }) => replays === 0));
    assert.deepEqual(readdirSync(dirname(profileIn('shared'))), ['default.json']);
  });

  test('causes a request for a new login after its session has expired', async () => {
    await logIn('over');
    testbed.tree.server.clock.advanceSeconds(61 * 86_400);
    const { code, errors } = await testbed.run(['whoami'], { environment: environmentOf('over') });
    assert.equal(code, 3);
    assert.equal(errors, "espalier: The session has ended. Run 'espalier login'.\n");
  });
});

describe('an unexpected server', () => {
  let folder: string;
  before(() => (folder = mkdtempSync(join(tmpdir(), 'espalier-cli-'))));
  after(() => rmSync(folder, { recursive: true }));

  const environment = () => ({ XDG_CONFIG_HOME: folder });
  const logInAt = (url: string) =>
    runEspalier(['login', '--url', url, '-u', 'admin', '--password-stdin'], {
      input: 'medlars and quinces',
      environment: environment(),
    });

  const withServer = async (listener: RequestListener, work: (url: string) => Promise<void>) => {
    const server = createServer(listener);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  };

  test('is reported with its address if it is not reachable', async () => {
    const url = `http://127.0.0.1:${await findFreePort()}`;
    const { code, errors } = await logInAt(url);
    assert.equal(code, 4);
    assert.equal(
      errors,
      `espalier: Cannot connect to ${url}. Retrying.
espalier: Cannot connect to ${url}: no program listens on the port. Start the server with 'espalier serve', or specify another server with --url.
`,
    );
  });

  test('is reported before the user name and the password are asked for', async () => {
    const url = `http://127.0.0.1:${await findFreePort()}`;
    const { code, text } = await runOnTerminal(['login', '--url', url], environment(), []);
    assert.equal(code, 4, text);
    assert.match(text, /no program listens on the port/);
    assert.doesNotMatch(text, /User name|Password/);
  });

  test('is reported before any question if it accepts no passwords', async () => {
    for (const [singleSignOn, remedy] of [
      [{ name: 'Keycloak' }, /Run 'espalier login --sso' to log in with Keycloak\./],
      [null, /Use an API key, or log in with a passkey in the console\./],
    ] as const) {
      const methods: RequestListener = (_, response) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ password: false, singleSignOn, passkeys: true }));
      await withServer(methods, async (url) => {
        const { code, text } = await runOnTerminal(['login', '--url', url], environment(), []);
        assert.equal(code, 1, text);
        assert.match(text, /The server at http:\S+ accepts no passwords\./);
        assert.match(text, remedy);
        assert.doesNotMatch(text, /User name|Password of/);
      });
    }
  });

  test('is reported with the right URL if its address ends with /graphql or /console', async () => {
    const notFound: RequestListener = (_, response) =>
      response.writeHead(404, { 'content-type': 'application/problem+json' }).end('{"code":"NOT_FOUND"}');
    await withServer(notFound, async (url) => {
      for (const path of ['/graphql', '/console/', '/console/folders']) {
        const { code, errors } = await logInAt(url + path);
        assert.equal(code, 1);
        assert.equal(
          errors,
          `espalier: There is no Espalier API at ${url}${path.replace(/\/$/, '')}. Use the URL without /graphql or /console, for example ${url}.\n`,
        );
      }
    });
  });

  test('is reported as a server without TLS at an https address', async () => {
    const emptyPage: RequestListener = (_, response) => response.end();
    await withServer(emptyPage, async (url) => {
      const { code, errors } = await logInAt(url.replace('http:', 'https:'));
      assert.equal(code, 4);
      assert.match(
        errors,
        /^espalier: The server at https:\S+ does not use TLS\. If this is intended, use http:\S+\n$/,
      );
    });
  });

  test('is reported if it responds with a web page', async () => {
    const page: RequestListener = (_, response) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>It works!</h1>');
    await withServer(page, async (url) => {
      const { code, errors } = await logInAt(url);
      assert.equal(code, 1);
      assert.match(errors, /^espalier: This is not an Espalier server: .*\n$/);
      assert.ok(
        !existsSync(join(folder, 'espalier')) || readdirSync(join(folder, 'espalier/profiles')).length === 0,
      );
    });
  });

  test('is reported in one line if it is too old for a command', async () => {
    const tokens = { authToken: 'a.b.c', refreshToken: randomUUID(), expires_in: 600 };
    const unknownFieldBody = {
      errors: [
        {
          message: 'Cannot query field "cursor" on type "Query".',
          extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
        },
      ],
    };
    const oldServer: RequestListener = (request, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(request.url === '/login' ? tokens : unknownFieldBody));
    await withServer(oldServer, async (url) => {
      assert.equal((await logInAt(url)).code, 0);
      const { code, output, errors } = await runEspalier(['whoami'], { environment: environment() });
      assert.deepEqual([code, output], [1, '']);
      assert.match(errors, /^espalier: The server at \S+ has another version .*: Cannot query field .*\n$/);
    });
  });
});
