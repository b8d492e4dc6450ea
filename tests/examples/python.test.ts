/** Runs examples/python/espalier_client.py like a user, and uses it as a module. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { filesIn, PageServer } from '../browser/page-server.ts';
import { sqlite } from '../support/databases.ts';
import { requireProgram } from '../runner/debian-packages.ts';
import { administrator } from '../support/testbed.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';
import { Relay } from './relay.ts';
import { examples, runExample } from './run-example.ts';

const folder = join(examples, 'python');

describe('examples/python/espalier_client.py on SQLite', () => {
  let tree: TreeTestbed;
  let relay: Relay;
  beforeEach(async () => {
    tree = await TreeTestbed.start(sqlite);
    relay = await Relay.start(tree.server.url);
  });
  afterEach(async () => {
    relay.stop();
    await tree.stop();
  });

  const python = (args: readonly string[], password = administrator.password) =>
    runExample([requireProgram('python3'), ...args], {
      ESPALIER_PASSWORD: password,
      PYTHONPATH: folder,
      PYTHONDONTWRITEBYTECODE: '1',
      // For the scripts of these tests.
      URL: relay.url,
    });
  const program = join(folder, 'espalier_client.py');
  const run = (...args: string[]) => python([program, relay.url, administrator.username, ...args]);
  const script = (lines: string) =>
    python([
      '-c',
      `
import os, threading
from espalier_client import EspalierClient, EspalierError
now = 0.0
client = EspalierClient(os.environ["URL"], clock=lambda: now)
client.login("admin", os.environ["ESPALIER_PASSWORD"])
${lines}`,
    ]);

  test('logs in, lists the children of a folder page by page and logs out, and exposes no secret', async () => {
    const names = Array.from({ length: 250 }, (_, number) => `Bed ${number + 1}`);
    await tree.import(names, await tree.create('Garden'));
    const { code, output, errors } = await run('/Garden');
    assert.equal(errors, '');
    assert.deepEqual(
      output.trimEnd().split('\n'),
      names.map((name) => `/Garden/${name}`),
    );
    assert.equal(code, 0);
    assert.deepEqual(relay.responses, [
      '/login 200',
      ...Array<string>(3).fill('/graphql 200'),
      '/logout 204',
    ]);
    assert.deepEqual(relay.exposedSecrets, []);
  });

  test('refreshes when a response says that the token has expired, and repeats the request', async () => {
    relay.beforeRequest = (path, { length }) => {
      if (path === '/graphql' && length === 1) tree.server.clock.advanceSeconds(601);
    };
    assert.equal((await run()).code, 0);
    assert.deepEqual(relay.responses, [
      '/login 200',
      '/graphql 401',
      '/login/refresh 200',
      '/graphql 200',
      '/logout 204',
    ]);
  });

  test('refreshes early, and once for all threads', async () => {
    const { errors, output } = await script(`
client.query("{ folder { name } }")
now = 481.0
threads = [threading.Thread(target=client.query, args=("{ folder { name } }",)) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
client.refresh()
print("done")`);
    assert.equal(errors, '');
    assert.equal(output, 'done\n');
    assert.deepEqual(relay.responses.slice(0, 3), ['/login 200', '/graphql 200', '/login/refresh 200']);
    const later = relay.responses.slice(3);
    assert.deepEqual(later, [...Array<string>(8).fill('/graphql 200'), '/login/refresh 200']);
  });

  test('raises an error with the code of a refusal', async () => {
    const { output } = await script(`
def attempt(query):
    try: client.query(query)
    except EspalierError as error: print(error.status, error.code, error)
attempt("{ nothing }")
attempt('mutation { deleteFolder(input: {id: "x"}) { folderId } }')
client.logout()
client.logout()
attempt("{ folder { name } }")`);
    const [unknown, missing, loggedOut] = output.split('\n');
    assert.match(unknown!, /^200 GRAPHQL_VALIDATION_FAILED Cannot query field/);
    assert.match(missing!, /^200 (NOT_FOUND|BAD_INPUT) /);
    assert.equal(loggedOut, '0  Not logged in.');
  });

  test('prints one line for each failure', async (context) => {
    const page = await PageServer.start(filesIn(join(examples, 'browser')));
    context.after(() => page.stop());
    for (const [resultPromise, expected] of [
      [python([program, relay.url], 'walnut cabin wrong'), 'The user name or the password is wrong'],
      [python([program, page.origin]), 'The server returned 404. Is it an Espalier server?'],
      [python([program, `${page.origin}/?`]), `${page.origin}/? is not an Espalier server`],
      [python([program, 'http://127.0.0.1:9']), 'Cannot reach http://127.0.0.1:9: [Errno 111]'],
      [python([program, 'nonsense']), 'nonsense is not an Espalier server: unknown url type'],
      [run('/Nowhere'), 'The folder /Nowhere does not exist'],
    ] as const) {
      const { code, output, errors } = await resultPromise;
      assert.ok(errors.startsWith(`espalier_client.py: ${expected}`), errors);
      assert.equal(errors.trimEnd().split('\n').length, 1, errors);
      assert.deepEqual({ code, output }, { code: 1, output: '' });
    }
  });
});
