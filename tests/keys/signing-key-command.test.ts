/** Runs `espalier signing-key` on the database of a running server. */

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { KeySet } from '@espalier/contract';
import { sql } from '../../server/src/database/statement.ts';
import { databaseKinds, type TestDatabase } from '../support/databases.ts';
import { runInHost } from '../support/espalier-command.ts';
import { SocketClient } from '../live/socket-client.ts';
import { codeAt } from '../second-factors/authenticator-app.ts';
import { FactorTestbed, type AppUser } from '../second-factors/factor-testbed.ts';
import { withDatabase } from '../support/stored-rows.ts';
import { administrator, Testbed, TestClock } from '../support/testbed.ts';
import { readKeyId } from './key-id.ts';

interface ListedKey {
  readonly id: string;
  readonly state: 'published' | 'signs' | 'verifies';
  readonly sealedWith: string | null;
}

const breakSeal = sql<{ privateKey: Uint8Array }>`update signing_keys set private_key = ${'privateKey'}`;

for (const kind of databaseKinds) {
  describe(`\`espalier signing-key\` on ${kind.name}`, () => {
    let folder: string;
    let database: TestDatabase;
    let testbed: Testbed | undefined;
    before(() => (folder = mkdtempSync(join(tmpdir(), 'espalier-keys-'))));
    after(() => rmSync(folder, { recursive: true }));
    beforeEach(async () => (database = await kind.create()));
    afterEach(async () => {
      await testbed?.stop();
      testbed = undefined;
      await database.remove();
    });

    /** Uses the clock of the machine, as the command does. */
    const start = async (settings: Record<string, string> = {}) => {
      const clock = new TestClock();
      clock.advanceSeconds((Date.now() - clock.now()) / 1000);
      return (testbed = await Testbed.start(kind, { database, clock, settings }));
    };
    /** Starts a server, sets up an authenticator app of the administrator, and stops the server. */
    const startWithAppUser = async (settings: Record<string, string>) => {
      const started = new FactorTestbed(await start(settings), (await testbed!.logIn()).authToken);
      const person = { id: '', ...administrator };
      const user = { ...person, ...(await started.enrolApp(person)) };
      await testbed!.stop();
      testbed = undefined;
      const login = async (
        { username, password, secret }: AppUser,
        { isRepeated = false }: { readonly isRepeated?: boolean } = {},
      ) => {
        if (!isRepeated) testbed!.clock.advanceSeconds(60 * ++logins);
        const code = codeAt(secret, testbed!.clock.now());
        return (await testbed!.post('/login', { username, password, code })).status;
      };
      let logins = 0;
      return { user, login };
    };
    const run = (...args: string[]) =>
      runInHost(['signing-key', ...args], { ESPALIER_DATABASE_URL: database.url });
    const listKeys = async () => JSON.parse((await run('list', '--json')).output) as ListedKey[];
    const masterKeyFile = (name: string) => {
      const file = join(folder, name);
      writeFileSync(file, `${randomBytes(32).toString('base64')}\n`);
      return file;
    };
    const waitUntil = async (condition: () => Promise<boolean>) => {
      for (const start = performance.now(); !(await condition()); await delay(20)) {
        assert.ok(performance.now() - start < 20_000, 'The condition was not met in time.');
      }
    };
    const readPublishedKeys = async () =>
      (await testbed!.send('GET', '/.well-known/jwks.json')).json<KeySet>().keys.map(({ kid }) => kid);

    test('publishes the next key, and refuses a second rotation until that key signs', async () => {
      await start();
      const old = readKeyId(await testbed!.logIn());
      const { code, output } = await run('rotate');
      assert.equal(code, 0);
      const next = /^The key (\S+) is published and signs from [\d-]+ [\d:]+ UTC on\./.exec(output)![1]!;
      assert.deepEqual(
        (await listKeys()).map(({ id, state }) => [id, state]),
        [
          [next, 'published'],
          [old, 'signs'],
        ],
      );
      await waitUntil(async () => (await readPublishedKeys()).includes(next));
      const secondRotation = await run('rotate');
      assert.equal(secondRotation.code, 1);
      assert.match(
        secondRotation.errors,
        new RegExp(`^espalier: The key ${next} is already published .*\\n$`),
      );
      assert.equal(readKeyId(await testbed!.logIn()), old);
      assert.match(
        (await run()).output,
        /^Key +State +Signs from \(UTC\) +Needed until \(UTC\) +Sealed with\n/,
      );
    });

    test('retires the signing key only with `--at-once`, which invalidates its tokens', async () => {
      await start();
      const tokens = await testbed!.logIn();
      const old = readKeyId(tokens);
      const refused = await run('retire', old);
      assert.equal(refused.code, 1);
      assert.match(refused.errors, /signs now\. Run 'espalier signing-key rotate'/);
      assert.equal((await testbed!.query('{folder{name}}', tokens.authToken)).status, 200);

      const socket = await SocketClient.connect(testbed!.url, tokens.authToken);
      const { code, output } = await run('retire', old, '--at-once');
      assert.equal(code, 0);
      const next = /The key (\S+) signs instead/.exec(output)![1];
      assert.deepEqual(await socket.closed(), { code: 4403, reason: 'INVALID_AUTH_TOKEN' });
      const response = await testbed!.query('{folder{name}}', tokens.authToken);
      assert.equal(response.status, 401);
      assert.equal(response.headers.get('token-expired'), null);
      assert.equal((await testbed!.post('/login/verify', { authToken: tokens.authToken })).status, 400);
      assert.equal((await testbed!.refresh(tokens)).status, 401);
      const fresh = await testbed!.logIn();
      assert.equal(readKeyId(fresh), next);
      assert.equal((await testbed!.query('{folder{name}}', fresh.authToken)).status, 200);
      assert.deepEqual(await readPublishedKeys(), [next]);
      const { items } = (
        await testbed!.query('{journal(first: 5){items{kind by{username} after}}}', fresh.authToken)
      ).json<{ data: { journal: { items: { kind: string; after: { keyId: string } }[] } } }>().data.journal;
      assert.ok(items.some(({ kind, after }) => kind === 'RETIRE_KEY' && after.keyId === old));
    });

    test('seals keys with a master key, which every server then needs to start', async () => {
      await start();
      const tokens = await testbed!.logIn();
      await testbed!.stop();
      const first = masterKeyFile('first');
      await start({ MASTER_KEY_FILE: first });
      assert.equal((await testbed!.query('{folder{name}}', tokens.authToken)).status, 200);
      const [sealed] = await listKeys();
      assert.match(sealed!.sealedWith!, /^[0-9a-f]{12}$/);
      await testbed!.stop();

      testbed = undefined;
      await assert.rejects(
        start(),
        /are sealed with a master key .* ESPALIER_MASTER_KEY_FILE\. .*'espalier docs signing-keys'\.$/,
      );
      const second = masterKeyFile('second');
      await assert.rejects(start({ MASTER_KEY_FILE: second }), /sealed with another master key/);
      assert.match(
        (await run('rotate')).errors,
        /^espalier: The signing keys .* are sealed with a master key/,
      );
      const { code, output } = await run('seal', '--master-key-file', second, '--old-master-key-file', first);
      assert.equal(code, 0);
      assert.match(
        output,
        /^1 key is sealed with the master key [0-9a-f]{12}\. Restart every node with the same ESPALIER_MASTER_KEY/,
      );
      assert.match(
        output,
        /a rotation alone is not enough[^]+signing-key retire <id>' for each[^]+<id> --at-once/,
      );
      await start({ MASTER_KEY_FILE: second });
      assert.equal((await testbed!.query('{folder{name}}', tokens.authToken)).status, 200);
      assert.equal((await run('rotate', '--master-key-file', second)).code, 0);
      assert.ok((await listKeys()).every(({ sealedWith }) => sealedWith !== sealed!.sealedWith));
    });

    test('leaves a node with an old master key able to verify tokens, but not to sign', async () => {
      const first = masterKeyFile('before');
      const second = masterKeyFile('after');
      const old = await start({ MASTER_KEY_FILE: first });
      const tokens = await old.logIn();
      await run('seal', '--master-key-file', second, '--old-master-key-file', first);
      const { clock } = old;
      const other = await Testbed.start(kind, { database, clock, settings: { MASTER_KEY_FILE: second } });
      try {
        await run('rotate', '--master-key-file', second);
        await waitUntil(async () => (await readPublishedKeys()).length === 2);
        // In a running server, a timer does this every few seconds.
        await other.purge();
        clock.advanceSeconds(500);
        const next = await other.logIn();
        assert.notEqual(readKeyId(next), readKeyId(tokens));
        assert.equal((await old.query('{folder{name}}', next.authToken)).status, 200);
        assert.equal((await old.refresh(next)).status, 503);
        assert.equal((await old.post('/login', administrator)).status, 503);
        assert.equal((await other.refresh(next)).status, 200);
        await run('retire', readKeyId(tokens), '--at-once', '--master-key-file', second);
        await waitUntil(async () => (await old.query('{folder{name}}', tokens.authToken)).status === 401);
      } finally {
        await other.stop();
      }
    });

    test('encrypts the secrets of authenticator apps again, also if no signing key needs it', async () => {
      const [first, second] = [masterKeyFile('first of apps'), masterKeyFile('second of apps')];
      const { user, login } = await startWithAppUser({ MASTER_KEY_FILE: first });
      // The new signing key is sealed with the second master key, and the secrets are still encrypted with the first one.
      assert.equal((await run('retire', '--all', '--master-key-file', second)).code, 0);
      const unreadable = await run('seal', '--master-key-file', second);
      assert.equal(unreadable.code, 0);
      assert.match(
        unreadable.output,
        /^1 secret of authenticator apps is encrypted with another master key\. Its user .* --old-master-key-file/m,
      );
      await start({ MASTER_KEY_FILE: second });
      assert.equal(await login(user), 503);
      await testbed!.stop();
      testbed = undefined;

      const sealed = await run('seal', '--master-key-file', second, '--old-master-key-file', first);
      assert.match(
        sealed.output,
        /^1 secret of authenticator apps is encrypted with the master key [0-9a-f]{12}\./m,
      );
      await start({ MASTER_KEY_FILE: second });
      assert.equal(await login(user), 200);
      assert.equal(await login(user, { isRepeated: true }), 401);
      await testbed!.stop();
      testbed = undefined;

      // Also without a master key.
      assert.match(
        (await run('seal', '--old-master-key-file', second)).output,
        /apps is stored without a master key/,
      );
      await start();
      assert.equal(await login(user), 200);
    });

    test('retires all keys after the loss of the master key, and requires a new master key', async () => {
      await start({ MASTER_KEY_FILE: masterKeyFile('lost') });
      const tokens = await testbed!.logIn();
      await testbed!.stop();
      testbed = undefined;
      const [key] = await listKeys();
      for (const args of [['--all'], [key!.id, '--at-once']]) {
        const refused = await run('retire', ...args);
        assert.equal(refused.code, 1);
        assert.match(refused.errors, /none is set|no master key is set/);
      }
      assert.deepEqual(await listKeys(), [key]);
      const fresh = masterKeyFile('fresh');
      assert.equal((await run('retire', '--all', '--master-key-file', fresh)).code, 0);
      await start({ MASTER_KEY_FILE: fresh });
      assert.equal((await testbed!.query('{folder{name}}', tokens.authToken)).status, 401);
      assert.equal((await testbed!.post('/login', administrator)).status, 200);
    });

    test('can retire a private key that was changed, with which no server starts', async () => {
      const file = masterKeyFile('broken');
      await start({ MASTER_KEY_FILE: file });
      await testbed!.stop();
      testbed = undefined;
      await withDatabase(database.url, (opened) =>
        opened.transaction((transaction) => transaction.run(breakSeal, { privateKey: randomBytes(76) })),
      );
      await assert.rejects(start({ MASTER_KEY_FILE: file }), /its seal is broken\. To retire the key/);
      const [broken] = await listKeys();
      const { code } = await run('retire', broken!.id, '--at-once', '--master-key-file', file);
      assert.equal(code, 0);
      await start({ MASTER_KEY_FILE: file });
      assert.equal((await testbed!.post('/login/verify', await testbed!.logIn())).status, 204);
    });

    test('reports invalid arguments and a missing database in one line, and changes nothing', async () => {
      await start();
      const before = await listKeys();
      for (const [args, expected, code] of [
        [['turn'], /The commands are list, rotate, retire, seal\./, 2],
        [['retire'], /Specify either the id of a key or --all/, 2],
        [['retire', 'x', '--all'], /Specify either the id of a key or --all/, 2],
        [['rotate', '--at-once'], /Unknown option '--at-once'/, 2],
        [['list', 'all'], /Too many arguments/, 2],
        [['retire', 'x'], /There is no signing key x/, 1],
        [
          ['seal', '--old-master-key-file', join(folder, 'none')],
          /Cannot read \S+ \(--old-master-key-file\): the file does not exist\./,
          1,
        ],
      ] as const) {
        const ended = await run(...args);
        assert.match(ended.errors, expected);
        assert.equal(ended.errors.split('\n').length, 2);
        assert.equal(ended.code, code);
      }
      assert.deepEqual(await listKeys(), before);
      const elsewhere = `sqlite:${join(folder, 'nothing.db')}`;
      assert.match(
        (await run('list', '--database-url', elsewhere)).errors,
        /There is no database file \S+\. Set --database-url or/,
      );
    });
  });
}
