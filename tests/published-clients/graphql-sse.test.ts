/** The npm package graphql-sse, for networks that block sockets, across several token expiries. */

import assert from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import { createClient, type Client, type RequestParams } from 'graphql-sse';
import { databaseKinds } from '../support/databases.ts';
import type { Person } from '../people/people-testbed.ts';
import { createFolderRequest, tokenSeconds, WatchTestbed, viewerQuery } from '../live/watch-testbed.ts';
import { SubscribingProgram, type Result } from '../live/subscribing-program.ts';

for (const kind of databaseKinds) {
  describe(`graphql-sse on ${kind.name}`, { timeout: 60_000 }, () => {
    let testbed: WatchTestbed;
    let ann: Person;
    before(async () => {
      testbed = await WatchTestbed.start(kind);
      ann = await testbed.createWatcher();
    });
    after(() => testbed.stop());

    const connect = (program: SubscribingProgram, test: TestContext): Client => {
      const client = createClient({
        url: `${testbed.server.url}/graphql`,
        headers: async () => ({ authorization: await program.authorization() }),
      });
      test.after(() => client.dispose());
      return client;
    };

    test('reports an expired token, and misses nothing after it subscribes again from its cursor', async (context) => {
      const program = await SubscribingProgram.start(testbed, ann);
      const client = connect(program, context);
      let subscriptions = 0;
      let isWatching = true;
      context.after(() => (isWatching = false));
      let streamEnd = Promise.withResolvers<void>();
      const watch = async () => {
        while (isWatching) {
          subscriptions++;
          for await (const result of client.iterate(program.subscription)) {
            if (readCode(result) !== 'INVALID_AUTH_TOKEN') program.receive(result);
            else program.markTokenExpired();
          }
          streamEnd.resolve();
        }
      };
      watch().catch((error: unknown) => program.fail(error));
      await testbed.writeFolders(1);
      await program.waitForChanges(1);

      for (let tokens = 1; tokens <= 3; tokens++) {
        await testbed.advance(tokenSeconds);
        await testbed.writeFolders(1);
        await streamEnd.promise;
        streamEnd = Promise.withResolvers();
        await testbed.writeFolders(2);
        await program.waitForChanges(1 + tokens * 3);
        assert.equal(subscriptions, tokens + 1);
      }
      await program.assertMissedNothing();
    });

    test('runs queries and mutations, and reports errors', async (context) => {
      const client = connect(await SubscribingProgram.start(testbed, ann), context);
      const viewer = { user: { username: ann.username }, tokenExpiresAt: testbed.timeIn(tokenSeconds) };
      assert.deepEqual(await readResult(client, viewerQuery), { data: { viewer } });
      const expected = { data: { createFolder: { folder: { name: 'orchard' } } } };
      assert.deepEqual(await readResult(client, createFolderRequest('orchard')), expected);
      assert.equal(readCode(await readResult(client, createFolderRequest('orchard'))), 'CONFLICT');
      assert.equal(readCode(await readResult(client, { query: '{nothing}' })), 'GRAPHQL_VALIDATION_FAILED');
    });
  });
}

function readCode({ errors }: Result): unknown {
  return errors?.[0]?.extensions?.['code'];
}

async function readResult(client: Client, request: RequestParams): Promise<Result> {
  for await (const result of client.iterate(request)) return result;
  throw new Error('The operation returned no result.');
}
