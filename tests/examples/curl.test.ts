/** Runs examples/curl/espalier.sh like a user. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { filesIn, PageServer } from '../browser/page-server.ts';
import { sqlite } from '../support/databases.ts';
import { administrator } from '../support/testbed.ts';
import { TreeTestbed } from '../tree/tree-testbed.ts';
import { Relay } from './relay.ts';
import { examples, runExample } from './run-example.ts';

const script = join(examples, 'curl/espalier.sh');

describe('examples/curl/espalier.sh on SQLite', () => {
  let tree: TreeTestbed;
  let relay: Relay;
  const start = async (settings: Record<string, string> = {}) => {
    tree = await TreeTestbed.start(sqlite, { settings });
    relay = await Relay.start(tree.server.url);
  };
  afterEach(async () => {
    relay.stop();
    await tree.stop();
  });

  const run = (password = administrator.password, url = relay.url) =>
    runExample([script, url, administrator.username], { ESPALIER_PASSWORD: password });

  describe('with default settings', () => {
    beforeEach(() => start());

    test('logs in, lists the folders page by page, refreshes and logs out, and exposes no secret', async () => {
      const names = Array.from({ length: 250 }, (_, number) => `Folder ${number + 1}`);
      await tree.import(names);
      const { code, output, errors, remainingFiles } = await run();
      assert.equal(errors, `Logged in at ${relay.url} as admin.\nRefreshed the tokens.\nLogged out.\n`);
      assert.deepEqual(output.trimEnd().split('\n'), names);
      assert.equal(code, 0);
      assert.deepEqual(relay.responses, [
        '/login 200',
        ...Array<string>(3).fill('/graphql 200'),
        '/login/refresh 200',
        '/logout 204',
      ]);
      assert.deepEqual(relay.exposedSecrets, []);
      assert.deepEqual(remainingFiles, []);
    });

    test('refreshes when a response says that the token has expired, and repeats the request', async () => {
      await tree.create('Garden');
      relay.beforeRequest = (path, { length }) => {
        if (path === '/graphql' && length === 1) tree.server.clock.advanceSeconds(601);
      };
      const { code, output } = await run();
      assert.equal(output, 'Garden\n');
      assert.equal(code, 0);
      assert.deepEqual(relay.responses.slice(0, 4), [
        '/login 200',
        '/graphql 401',
        '/login/refresh 200',
        '/graphql 200',
      ]);
    });

    test('prints one line for each failure and leaves no files', async (context) => {
      const page = await PageServer.start(filesIn(join(examples, 'browser')));
      context.after(() => page.stop());
      for (const [resultPromise, expected] of [
        [
          run('walnut cabin wrong'),
          /^espalier\.sh: \/login returned 401: The user name or the password is wrong/,
        ],
        [run(undefined, page.origin), /^espalier\.sh: \/login returned 404: Is it an Espalier server\?/],
        [
          run(undefined, `${page.origin}/?`),
          /^espalier\.sh: \/login returned 200: Is it an Espalier server\?/,
        ],
        [run(undefined, 'http://127.0.0.1:9'), /^espalier\.sh: Cannot reach http:\/\/127\.0\.0\.1:9: curl: /],
        [run(''), /^espalier\.sh: Set ESPALIER_PASSWORD/],
      ] as const) {
        const { code, output, errors, remainingFiles } = await resultPromise;
        assert.match(errors, expected);
        assert.equal(errors.trimEnd().split('\n').length, 1, errors);
        assert.deepEqual({ code, output, remainingFiles }, { code: 1, output: '', remainingFiles: [] });
      }
    });

    test('logs out even after a failure', async () => {
      relay.beforeRequest = (path) => {
        if (path === '/graphql') tree.server.clock.advanceSeconds(86_400 * 61);
      };
      const { code, errors } = await run();
      assert.match(errors, /espalier\.sh: \/login\/refresh returned 401: .*\n$/);
      assert.equal(code, 1);
      assert.deepEqual(relay.responses.slice(-2), ['/login/refresh 401', '/logout 400']);
    });
  });

  test('refreshes early and does not use a token with a lifetime of one second', async () => {
    await start({ AUTH_TOKEN_SECONDS: '1' });
    await run();
    assert.deepEqual(relay.responses.slice(0, 3), ['/login 200', '/login/refresh 200', '/graphql 200']);
  });
});
