/** Runs examples/typescript/mirror.ts like a user. */

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, beforeEach, describe, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { filesIn, PageServer } from '../browser/page-server.ts';
import { databaseKinds, sqlite, type TestDatabase } from '../support/databases.ts';
import { findFreePort } from '../support/free-port.ts';
import { administrator } from '../support/testbed.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';
import { examples, nodeCommand, RunningExample, runExample } from './run-example.ts';

const timeoutMs = 60_000;
const { username, password } = administrator;
const folder = mkdtempSync(join(tmpdir(), 'espalier-mirror-'));
after(() => rmSync(folder, { recursive: true }));

interface Node {
  readonly folders: Node[];
}

/** Reads the state of the server in the format of the file. */
async function readExpected(tree: TreeTestbed, id: string): Promise<unknown> {
  const fields = 'id name title icon description properties version updatedAt';
  const stored = await tree.find<object & { descendants: { edges: { depth: number; node: object }[] } }>(
    id,
    `${fields} descendants{edges{depth node{${fields}}}}`,
  );
  if (!stored) return null;
  const { descendants, ...top } = stored;
  const path: Node[] = [{ ...top, folders: [] }];
  for (const { depth, node } of descendants.edges) {
    path[depth] = { ...node, folders: [] };
    path[depth - 1]!.folders.push(path[depth]);
  }
  return path[0];
}

/** Waits until the file matches the server. Every read must find a complete file. */
async function waitUntilEqual(tree: TreeTestbed, id: string, file: string): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const expected = await readExpected(tree, id);
    const actual: unknown = JSON.parse(readFileSync(file, 'utf8'));
    if (isDeepStrictEqual(actual, expected)) return;
    if (performance.now() > deadline) assert.deepEqual(actual, expected);
  }
}

for (const kind of databaseKinds) {
  describe(`examples/typescript/mirror.ts on ${kind.name}`, { timeout: 120_000 }, () => {
    let database: TestDatabase;
    let settings: Record<string, string>;
    let tree: TreeTestbed;
    beforeEach(async () => {
      database = await kind.createForServer();
      settings = { PORT: String(await findFreePort()) };
      tree = await TreeTestbed.start(kind, { database, settings });
    });
    afterEach(async () => {
      await tree.stop();
      await database.remove();
    });

    test('keeps the file equal to the tree across changes, server restarts and expired tokens', async () => {
      await tree.import(['Places/Floor 10', 'Places/Floor 2/Kitchen', 'Elsewhere/Garden/Bed']);
      const id = await tree.idOf('/Places');
      const file = join(folder, `${kind.name}.json`);
      const command = nodeCommand('typescript/mirror.ts', tree.server.url, username, '/Places', file);
      const running = new RunningExample(command, { ESPALIER_PASSWORD: password });
      try {
        await running.waitForOutput(`Mirrors /Places to ${file}: 4 folders.`);
        assert.deepEqual(JSON.parse(readFileSync(file, 'utf8')), await readExpected(tree, id));

        const garden = await tree.idOf('/Elsewhere/Garden');
        await tree.move(garden, id);
        await tree.mutate('updateFolder', { id: garden, name: 'Orchard', properties: { trees: [1, 2] } });
        await tree.move(await tree.idOf('/Places/Floor 2/Kitchen'), garden);
        await tree.import(['a/b/c', 'a/d'], garden);
        await tree.delete(await tree.idOf('/Places/Orchard/Bed'));
        await tree.move(await tree.idOf('/Places/Floor 10'), await tree.idOf('/Elsewhere'));
        await tree.mutate('updateFolder', { id, name: 'Sites', title: 'Where we are' });
        await waitUntilEqual(tree, id, file);

        const names = Array.from({ length: 30 }, (_, number) => `Room ${number}`);
        await Promise.all(names.map((name) => tree.create(name, garden)));
        await waitUntilEqual(tree, id, file);

        // All tokens have expired: the socket closes, and the example has to refresh.
        await tree.advanceDays(1);
        await tree.create('After the token', id);
        await waitUntilEqual(tree, id, file);

        const { clock } = tree.server;
        await tree.stop();
        await running.waitForOutput('The connection is lost.');
        tree = await TreeTestbed.start(kind, { database, settings, clock });
        await tree.create('After the restart', id);
        await tree.delete(garden);
        await waitUntilEqual(tree, id, file);

        await tree.delete(id);
        await waitUntilEqual(tree, id, file);
        assert.equal(readFileSync(file, 'utf8'), 'null\n');
        await tree.mutate('restoreFolder', { id });
        await waitUntilEqual(tree, id, file);

        await tree.create('The last', id);
        const { code, output, errors, remainingFiles } = await running.stop();
        assert.deepEqual({ code, errors, remainingFiles }, { code: 0, errors: '', remainingFiles: [] });
        assert.match(output, /\nConnected again\.\n/);
        const [, size] = /\nStopped\. \S+ contains (\d+) folders\.\n$/.exec(output)!;
        assert.equal(readFileSync(file, 'utf8').match(/"id"/g)!.length, Number(size));
        assert.ok(!existsSync(`${file}.new`));
        assert.ok(tree.server.logLines.some((line) => line.includes('"route":"/logout"')));
      } finally {
        await running.stop('SIGKILL');
      }
    });
  });
}

describe('examples/typescript/mirror.ts after a failure on SQLite', { timeout: 60_000 }, () => {
  let tree: TreeTestbed;
  beforeEach(async () => {
    tree = await TreeTestbed.start(sqlite);
  });
  const command = (file: string, { url = tree.server.url, user = username, path = '/' } = {}) =>
    nodeCommand('typescript/mirror.ts', url, user, path, file);
  const startExample = async (...args: Parameters<typeof command>) => {
    const running = new RunningExample(command(...args), { ESPALIER_PASSWORD: password });
    await running.waitForOutput('Mirrors ');
    return running;
  };

  test('prints one line and writes nothing', async (context) => {
    context.after(() => tree.stop());
    const page = await PageServer.start(filesIn(join(examples, 'browser')));
    context.after(() => page.stop());
    const file = join(folder, 'never.json');
    const unusedUrl = `http://127.0.0.1:${await findFreePort()}`;
    const run = (options: Parameters<typeof command>[1], secret = password) =>
      runExample(command(file, options), { ESPALIER_PASSWORD: secret });
    for (const [resultPromise, expected, expectedCode] of [
      [run({ url: unusedUrl }), `Cannot connect to ${unusedUrl}: no program listens on the port.`, 1],
      [run({ url: page.origin }), `This is not an Espalier server: ${page.origin}/login`, 1],
      [run({ url: 'nonsense' }), 'The url of a client must be the API root', 1],
      [run({}, 'walnut cabin wrong'), 'The user name or the password is wrong', 1],
      [run({}, ''), 'Set ESPALIER_API_KEY to an API key, or ESPALIER_PASSWORD to the password.', 1],
      [run({ path: '/Nowhere' }), 'The folder /Nowhere does not exist, or you do not have access to it.', 1],
      [
        runExample(command(join(folder, 'missing/x.json')), { ESPALIER_PASSWORD: password }),
        'ENOENT: no such file or directory',
        1,
      ],
      [runExample(nodeCommand('typescript/mirror.ts', tree.server.url), {}), 'Usage: mirror.ts <url>', 2],
    ] as const) {
      const { code, output, errors } = await resultPromise;
      assert.ok(errors.startsWith(`mirror.ts: ${expected}`), errors);
      assert.equal(errors.trimEnd().split('\n').length, 1, errors);
      assert.deepEqual({ code, output }, { code: expectedCode, output: '' });
    }
    assert.ok(!existsSync(file));
  });

  test('exits when its session ends, with the last state in the file', async (context) => {
    context.after(() => tree.stop());
    const user = { username: 'visitor', password, isAdministrator: true };
    const { id } = (await tree.mutate<{ user: { id: string } }>('createUser', user, 'user{id}')).user;
    const file = join(folder, 'visitor.json');
    const running = await startExample(file, { user: 'visitor' });
    await tree.mutate('updateUser', { id, isDisabled: true });
    const { code, errors } = await running.result;
    assert.equal(errors, 'mirror.ts: The server has ended the session. Start the program again to log in.\n');
    assert.equal(code, 1);
    assert.match(readFileSync(file, 'utf8'), /"name": "Root"/);
  });

  test('exits when it cannot write the file', async (context) => {
    context.after(() => tree.stop());
    const target = join(folder, 'place');
    mkdirSync(target);
    const running = await startExample(join(target, 'mirror.json'));
    rmSync(target, { recursive: true });
    await tree.create('Garden');
    const { code, errors } = await running.result;
    assert.match(errors, /^mirror\.ts: ENOENT: no such file or directory.*\n$/);
    assert.equal(code, 1);
  });

  test('stops on Ctrl-C while the server is down', async () => {
    const file = join(folder, 'away.json');
    const running = await startExample(file);
    await tree.stop();
    await running.waitForOutput('The connection is lost.');
    const { code, output, errors } = await running.stop();
    assert.match(
      errors,
      /^mirror\.ts: Cannot log out: Cannot connect to \S+: no program listens on the port\.\n$/,
    );
    assert.match(output, /\nStopped\. \S+ contains 1 folders\.\n$/);
    assert.equal(code, 0);
  });
});
