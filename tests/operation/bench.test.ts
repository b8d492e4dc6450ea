/**
 * Runs every benchmark scenario and checks that it sends the requests of the clients. Does not check any
 * figures.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { readScenarios, createRequest } from '../../bench/reads.ts';
import { roomsPath, type Tree } from '../../bench/tree.ts';
import { sqlite } from '../support/databases.ts';
import { selectLength } from '../support/run-length.ts';
import { administrator, Testbed } from '../support/testbed.ts';

const root = join(import.meta.dirname, '../..');

/** Undefined selects every scenario. */
const scenariosOn: Readonly<Record<string, readonly string[] | undefined>> = {
  sqlite: undefined,
  postgres: selectLength({ short: ['client-page', 'delivery'], long: undefined }),
};

const tree: Tree = {
  placesId: 'places',
  campusId: 'campus',
  atriumId: 'atrium',
  lettersId: 'letters',
  roomsId: 'rooms',
  deepId: 'deep',
  inboxId: 'inbox',
};

async function bench(...args: string[]): Promise<{ stdout: string; stderr: string }> {
  // Otherwise, the servers of the benchmark would run in the test context.
  const env = { ...process.env };
  delete env['NODE_TEST_CONTEXT'];
  const command = ['--conditions=espalier-source', join(root, 'bench/bench.ts'), ...args];
  return promisify(execFile)(process.execPath, command, { env });
}

describe('the benchmark', () => {
  for (const [database, scenarios] of Object.entries(scenariosOn)) {
    test(`runs ${scenarios ? scenarios.join(', ') : 'every scenario'} on ${database} and reports each`, async (context) => {
      const folder = mkdtempSync(join(tmpdir(), 'espalier-bench-test-'));
      context.after(() => rmSync(folder, { recursive: true }));
      const file = join(folder, 'results.json');
      const shortArgs = ['--folders', '1000', '--rounds', '1', '--requests', '2'];
      const { stdout } = await bench(
        ...(scenarios ?? []),
        '--database',
        database,
        ...shortArgs,
        '--json',
        file,
      );
      const { results } = JSON.parse(readFileSync(file, 'utf8')) as { results: { scenario: string }[] };
      const others = ['login', 'refresh', 'create', 'import', 'delivery', 'start', 'memory'];
      const expected = scenarios ?? [...readScenarios.map(({ name }) => name), ...others];
      assert.deepEqual([...new Set(results.map(({ scenario }) => scenario))], expected);
      for (const name of expected) assert.match(stdout, new RegExp(`^${name} .*${database} `, 'm'));
    });
  }

  test('suggests a name for a scenario that does not exist', async () => {
    await assert.rejects(bench('serch'), ({ code, stderr }: { code: number; stderr: string }) => {
      assert.equal(code, 1);
      assert.match(stderr, /There is no scenario or group serch\. Did you mean search\?/);
      return true;
    });
  });

  test('lists scenarios and options in its help', async () => {
    const { stdout } = await bench('--help');
    assert.match(stdout, /client-page +TypeScript client: a page of 50 subfolders/);
    assert.match(stdout, /--against PATH/);
  });

  test('sends the queries, variables and headers of the console, the client and the example', async () => {
    const testbed = await Testbed.start(sqlite);
    try {
      const readSentRequest = async (name: string) => {
        const site = { url: testbed.url, logIn: async () => (await testbed.logIn()).authToken };
        const scenario = readScenarios.find((each) => each.name === name)!;
        const { body, headers } = await createRequest(scenario, { site, tree, credentials: administrator });
        return { ...(JSON.parse(body) as { query: string; variables: object }), headers };
      };
      const levelRequest = await readSentRequest('console-level');
      assert.match(levelRequest.query, /query TreeRange[^]*fragment FolderRow on Folder/);
      assert.deepEqual(levelRequest.variables, { id: 'rooms', skip: 0, first: 100 });
      assert.deepEqual(Object.keys(levelRequest.headers).toSorted(), [
        'accept',
        'authorization',
        'content-type',
      ]);
      const watchRequest = await readSentRequest('watch');
      assert.match(watchRequest.query, /descendants\(first:\$first/);
      assert.deepEqual(watchRequest.variables, {
        id: 'campus',
        first: 100,
        after: null,
        lastParent: 'campus',
      });
      const exampleRequest = await readSentRequest('example-page');
      assert.ok(
        readFileSync(join(root, 'examples/python/espalier_client.py'), 'utf8').includes(exampleRequest.query),
      );
      assert.deepEqual(exampleRequest.variables, { path: roomsPath, after: null });
    } finally {
      await testbed.stop();
    }
  });
});
