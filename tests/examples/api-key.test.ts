/** Runs the examples with an API key instead of a password. */

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, afterEach, describe, test } from 'node:test';
import { requireProgram } from '../runner/debian-packages.ts';
import { sqlite } from '../support/databases.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';
import { Relay } from './relay.ts';
import { examples, nodeCommand, RunningExample, runExample, type Command } from './run-example.ts';

describe('the examples with an API key on SQLite', { timeout: 120_000 }, () => {
  let tree: TreeTestbed;
  let relay: Relay;
  before(async () => {
    tree = await TreeTestbed.start(sqlite);
    await tree.import(['Garden/Bed']);
  });
  after(() => tree.stop());
  beforeEach(async () => (relay = await Relay.start(tree.server.url)));
  afterEach(() => relay.stop());

  const createKey = async (input: object = {}) => {
    type Created = { key: string; apiKey: { id: string } };
    const values = { name: 'example', level: 'WRITE', ...input };
    const { key, apiKey } = await tree.mutate<Created>('createApiKey', values, 'key apiKey{id}');
    return { key, revoke: () => tree.mutate('revokeApiKey', { id: apiKey.id }, '__typename') };
  };
  const environmentOf = (key: string) => ({ ESPALIER_API_KEY: key, PYTHONDONTWRITEBYTECODE: '1' });
  const python = (file: string, ...args: string[]): Command => [
    requireProgram('python3'),
    join(examples, 'python', file),
    ...args,
  ];

  test('list folders without a login, a refresh or a logout', async () => {
    const { key } = await createKey({ level: 'READ' });
    for (const [command, expected] of [
      [[join(examples, 'curl/espalier.sh'), relay.url], 'Garden\n'],
      [python('espalier_client.py', relay.url, '-', '/Garden'), '/Garden/Bed\n'],
    ] as const) {
      const { code, output, errors, remainingFiles } = await runExample(command, environmentOf(key));
      assert.deepEqual(
        { code, output, errors, remainingFiles },
        { code: 0, output: expected, errors: '', remainingFiles: [] },
      );
    }
    assert.deepEqual(relay.responses, ['/graphql 200', '/graphql 200']);
    assert.deepEqual(relay.exposedSecrets, []);
  });

  test('print the reason in one line when the key was revoked', async () => {
    const { key, revoke } = await createKey();
    await revoke();
    for (const command of [
      [join(examples, 'curl/espalier.sh'), relay.url],
      python('espalier_client.py', relay.url),
      python('watch.py', relay.url),
      nodeCommand('typescript/mirror.ts', relay.url, '-', '/Garden', 'unused.json'),
      nodeCommand('apollo/folders.ts', relay.url),
      nodeCommand('urql/folders.ts', relay.url),
    ] as const) {
      const { code, errors } = await runExample(command, environmentOf(key));
      assert.match(errors, /^[\w.]+: .*(This API key was revoked\.|The server rejects the API key.*)\n$/);
      assert.equal(code, 1);
    }
    const watch = [process.execPath, join(examples, 'javascript/watch.mjs'), relay.url] as const;
    const { code, output } = await runExample(watch, environmentOf(key));
    assert.deepEqual({ code, output }, { code: 1, output: 'This API key was revoked.\n' });
    assert.ok(relay.responses.every((response) => response === '/graphql 401'));
  });

  for (const [name, program] of [
    ['javascript/watch.mjs', () => process.execPath],
    ['python/watch.py', () => requireProgram('python3')],
  ] as const) {
    test(`follow changes with ${name} until the key is revoked`, async () => {
      const { key, revoke } = await createKey();
      const watch = new RunningExample(
        [program(), join(examples, name), tree.server.url],
        environmentOf(key),
      );
      try {
        await watch.waitForOutput('There are ');
        const folder = `From ${name.split('/')[0]}`;
        await tree.create(folder);
        await watch.waitForOutput(`CREATE /${folder} admin`);
        await revoke();
        const { code, output, errors } = await watch.result;
        assert.match(output + errors, /The API key is no longer valid|This API key was revoked/);
        assert.equal(code, 1);
      } finally {
        await watch.stop();
      }
    });
  }

  test('mirror a folder with typescript/mirror.ts until the key is revoked', async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-mirror-'));
    context.after(() => rmSync(folder, { recursive: true }));
    const { key, revoke } = await createKey({ folderId: await tree.idOf('/Garden') });
    const file = join(folder, 'garden.json');
    const command = nodeCommand('typescript/mirror.ts', relay.url, '-', '/Garden', file);
    const running = new RunningExample(command, environmentOf(key));
    try {
      await running.waitForOutput(`Mirrors /Garden to ${file}: 2 folders.`);
      assert.match(readFileSync(file, 'utf8'), /"name": "Bed"/);
      await revoke();
      const { code, errors } = await running.result;
      assert.match(errors, /^mirror\.ts: The server rejects the API key/);
      assert.equal(code, 1);
    } finally {
      await running.stop();
    }
  });
});
