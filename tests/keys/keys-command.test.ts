/** `espalier keys`, run beside a server. */

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
import { withDatabase } from '../support/stored-rows.ts';
import { administrator, Testbed, TestClock } from '../support/testbed.ts';
import { keyOf } from './key-of.ts';

interface Listed {
  readonly id: string;
  readonly state: 'published' | 'signs' | 'verifies';
  readonly sealedWith: string | null;
}

const breakSeal = sql<{ privateKey: Uint8Array }>`update signing_keys set private_key = ${'privateKey'}`;

for (const kind of databaseKinds) {
  describe(`espalier keys on ${kind.name}`, () => {
    let folder: string;
    let database: TestDatabase;
    let bed: Testbed | undefined;
    before(() => (folder = mkdtempSync(join(tmpdir(), 'espalier-keys-'))));
    after(() => rmSync(folder, { recursive: true }));
    beforeEach(async () => (database = await kind.create()));
    afterEach(async () => {
      await bed?.stop();
      bed = undefined;
      await database.remove();
    });

    /** With the clock of the machine, as the command has it. */
    const start = async (settings: Record<string, string> = {}) => {
      const clock = new TestClock();
      clock.advanceSeconds((Date.now() - clock.now()) / 1000);
      return (bed = await Testbed.start(kind, { database, clock, settings }));
    };
    const run = (...args: string[]) => runInHost(['keys', ...args], { ESPALIER_DATABASE_URL: database.url });
    const listed = async () => JSON.parse((await run('list', '--json')).output) as Listed[];
    const masterKeyFile = (name: string) => {
      const file = join(folder, name);
      writeFileSync(file, `${randomBytes(32).toString('base64')}\n`);
      return file;
    };
    const until = async (isSo: () => Promise<boolean>) => {
      for (const start = performance.now(); !(await isSo()); await delay(20)) {
        assert.ok(performance.now() - start < 20_000, 'It never came to it.');
      }
    };
    const shownKeys = async () =>
      (await bed!.send('GET', '/.well-known/jwks.json')).json<KeySet>().keys.map(({ kid }) => kid);

    test('a rotated key is listed and served as published; a second one is refused until it signs', async () => {
      await start();
      const old = keyOf(await bed!.logIn());
      const { code, output } = await run('rotate');
      assert.equal(code, 0);
      const next = /^The key (\S+) is published and signs from \S+Z on\./.exec(output)![1]!;
      assert.deepEqual(
        (await listed()).map(({ id, state }) => [id, state]),
        [
          [next, 'published'],
          [old, 'signs'],
        ],
      );
      await until(async () => (await shownKeys()).includes(next));
      const again = await run('rotate');
      assert.equal(again.code, 1);
      assert.match(again.errors, new RegExp(`^espalier: The key ${next} is published already .*\\n$`));
      assert.equal(keyOf(await bed!.logIn()), old);
      assert.match((await run()).output, /^Key +State +Signs from +Needed until +Sealed with\n/);
    });

    test('the key that signs is retired only at once; its tokens end on HTTP and on sockets, nobody else is cut off', async () => {
      await start();
      const pair = await bed!.logIn();
      const old = keyOf(pair);
      const refused = await run('retire', old);
      assert.equal(refused.code, 1);
      assert.match(refused.errors, /signs now\. Run espalier keys rotate/);
      assert.equal((await bed!.query('{folder{name}}', pair.authToken)).status, 200);

      const socket = await SocketClient.connect(bed!.url, pair.authToken);
      const { code, output } = await run('retire', old, '--at-once');
      assert.equal(code, 0);
      const next = /The key (\S+) signs instead/.exec(output)![1];
      assert.deepEqual(await socket.closed(), { code: 4403, reason: 'INVALID_AUTH_TOKEN' });
      const answer = await bed!.query('{folder{name}}', pair.authToken);
      assert.equal(answer.status, 401);
      assert.equal(answer.headers.get('token-expired'), null);
      assert.equal((await bed!.post('/login/verify', { authToken: pair.authToken })).status, 400);
      assert.equal((await bed!.refresh(pair)).status, 401);
      const fresh = await bed!.logIn();
      assert.equal(keyOf(fresh), next);
      assert.equal((await bed!.query('{folder{name}}', fresh.authToken)).status, 200);
      assert.deepEqual(await shownKeys(), [next]);
      const { items } = (
        await bed!.query('{journal(first: 5){items{kind by{username} after}}}', fresh.authToken)
      ).json<{ data: { journal: { items: { kind: string; after: { keyId: string } }[] } } }>().data.journal;
      assert.ok(items.some(({ kind, after }) => kind === 'RETIRE_KEY' && after.keyId === old));
    });

    test('a master key seals what is there, opens it again, and can be changed; without it nothing starts', async () => {
      await start();
      const pair = await bed!.logIn();
      await bed!.stop();
      const first = masterKeyFile('first');
      await start({ MASTER_KEY_FILE: first });
      assert.equal((await bed!.query('{folder{name}}', pair.authToken)).status, 200);
      const [sealed] = await listed();
      assert.match(sealed!.sealedWith!, /^[0-9a-f]{12}$/);
      await bed!.stop();

      bed = undefined;
      await assert.rejects(start(), /are sealed with a master key .* ESPALIER_MASTER_KEY_FILE\. .*lost\.$/);
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
        /^1 key is sealed with the master key [0-9a-f]{12}\. Restart every node with that/,
      );
      assert.match(output, /rotating alone does not end that[^]+keys retire <id> for each[^]+<id> --at-once/);
      await start({ MASTER_KEY_FILE: second });
      assert.equal((await bed!.query('{folder{name}}', pair.authToken)).status, 200);
      assert.equal((await run('rotate', '--master-key-file', second)).code, 0);
      assert.ok((await listed()).every(({ sealedWith }) => sealedWith !== sealed!.sealedWith));
    });

    test('a node with an old master key cannot sign with a new key, but verifies with it and drops what is retired', async () => {
      const first = masterKeyFile('before');
      const second = masterKeyFile('after');
      const old = await start({ MASTER_KEY_FILE: first });
      const pair = await old.logIn();
      await run('seal', '--master-key-file', second, '--old-master-key-file', first);
      const { clock } = old;
      const other = await Testbed.start(kind, { database, clock, settings: { MASTER_KEY_FILE: second } });
      try {
        await run('rotate', '--master-key-file', second);
        await until(async () => (await shownKeys()).length === 2);
        // What a timer does every few seconds.
        await other.purge();
        clock.advanceSeconds(500);
        const next = await other.logIn();
        assert.notEqual(keyOf(next), keyOf(pair));
        assert.equal((await old.query('{folder{name}}', next.authToken)).status, 200);
        assert.equal((await old.refresh(next)).status, 503);
        assert.equal((await old.post('/login', administrator)).status, 503);
        assert.equal((await other.refresh(next)).status, 200);
        await run('retire', keyOf(pair), '--at-once', '--master-key-file', second);
        await until(async () => (await old.query('{folder{name}}', pair.authToken)).status === 401);
      } finally {
        await other.stop();
      }
    });

    test('with a lost master key all keys are retired under a new one; without any, nothing is stored unsealed', async () => {
      await start({ MASTER_KEY_FILE: masterKeyFile('lost') });
      const pair = await bed!.logIn();
      await bed!.stop();
      bed = undefined;
      const [key] = await listed();
      for (const args of [['--all'], [key!.id, '--at-once']]) {
        const refused = await run('retire', ...args);
        assert.equal(refused.code, 1);
        assert.match(refused.errors, /none is given|no master key is given/);
      }
      assert.deepEqual(await listed(), [key]);
      const fresh = masterKeyFile('fresh');
      assert.equal((await run('retire', '--all', '--master-key-file', fresh)).code, 0);
      await start({ MASTER_KEY_FILE: fresh });
      assert.equal((await bed!.query('{folder{name}}', pair.authToken)).status, 401);
      assert.equal((await bed!.post('/login', administrator)).status, 200);
    });

    test('a private key that somebody changed is not taken, and can be retired', async () => {
      const file = masterKeyFile('broken');
      await start({ MASTER_KEY_FILE: file });
      await bed!.stop();
      bed = undefined;
      await withDatabase(database.url, (opened) =>
        opened.transaction((transaction) => transaction.run(breakSeal, { privateKey: randomBytes(76) })),
      );
      await assert.rejects(start({ MASTER_KEY_FILE: file }), /its seal is broken\. Retire it/);
      const [broken] = await listed();
      const { code } = await run('retire', broken!.id, '--at-once', '--master-key-file', file);
      assert.equal(code, 0);
      await start({ MASTER_KEY_FILE: file });
      assert.equal((await bed!.post('/login/verify', await bed!.logIn())).status, 204);
    });

    test('what it does not understand, and a database that is not there, get one line and change nothing', async () => {
      await start();
      const before = await listed();
      for (const [args, expected, code] of [
        [['turn'], /takes list, rotate, retire or seal/, 2],
        [['retire'], /takes the id of a key, or --all/, 2],
        [['retire', 'x', '--all'], /takes the id of a key, or --all/, 2],
        [['rotate', '--at-once'], /There is no flag --at-once/, 2],
        [['list', 'all'], /all is not a flag/, 2],
        [['retire', 'x'], /There is no signing key x/, 1],
        [['seal', '--old-master-key-file', join(folder, 'none')], /cannot be read/, 1],
      ] as const) {
        const ended = await run(...args);
        assert.match(ended.errors, expected);
        assert.equal(ended.errors.split('\n').length, 2);
        assert.equal(ended.code, code);
      }
      assert.deepEqual(await listed(), before);
      const elsewhere = `sqlite:${join(folder, 'nothing.db')}`;
      assert.match((await run('list', '--database-url', elsewhere)).errors, /There is no database file/);
    });
  });
}
