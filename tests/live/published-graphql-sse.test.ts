/** The npm package graphql-sse, for networks that let no sockets through, beyond the end of its token. */

import assert from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import { createClient, type Client, type RequestParams } from 'graphql-sse';
import { databaseKinds } from '../databases.ts';
import type { Person } from '../people/people-bed.ts';
import { makeFolder, tokenSeconds, WatchedBed, whoAmI } from './watched-bed.ts';
import { WatchingProgram, type Result } from './watching-program.ts';

for (const kind of databaseKinds) {
  describe(`graphql-sse on ${kind.name}`, { timeout: 60_000 }, () => {
    let bed: WatchedBed;
    let ann: Person;
    before(async () => {
      bed = await WatchedBed.start(kind);
      ann = await bed.createWatcher();
    });
    after(() => bed.stop());

    const connect = (program: WatchingProgram, test: TestContext): Client => {
      const client = createClient({
        url: `${bed.bed.url}/graphql`,
        headers: async () => ({ authorization: await program.authorization() }),
      });
      test.after(() => client.dispose());
      return client;
    };

    test('is told at expiry that the token is over, and misses nothing if it asks again from its cursor', async (context) => {
      const program = await WatchingProgram.start(bed, ann);
      const client = connect(program, context);
      let subscriptions = 0;
      let isWatching = true;
      context.after(() => (isWatching = false));
      let ended = Promise.withResolvers<void>();
      const watch = async () => {
        while (isWatching) {
          subscriptions++;
          for await (const result of client.iterate(program.subscription)) {
            if (codeOf(result) !== 'INVALID_AUTH_TOKEN') program.note(result);
            else program.noteTokenIsOld();
          }
          ended.resolve();
        }
      };
      watch().catch((error: unknown) => program.fail(error));
      await bed.writeFolders(1);
      await program.until(1);

      for (let tokens = 1; tokens <= 3; tokens++) {
        await bed.advance(tokenSeconds);
        await bed.writeFolders(1);
        await ended.promise;
        ended = Promise.withResolvers();
        await bed.writeFolders(2);
        await program.until(1 + tokens * 3);
        assert.equal(subscriptions, tokens + 1);
      }
      await program.assertMissedNothing();
    });

    test('asks and changes, and is told what is wrong', async (context) => {
      const client = connect(await WatchingProgram.start(bed, ann), context);
      const viewer = { user: { username: ann.username }, tokenExpiresAt: bed.timeIn(tokenSeconds) };
      assert.deepEqual(await resultOf(client, whoAmI), { data: { viewer } });
      const made = { data: { createFolder: { folder: { name: 'orchard' } } } };
      assert.deepEqual(await resultOf(client, makeFolder('orchard')), made);
      assert.equal(codeOf(await resultOf(client, makeFolder('orchard'))), 'CONFLICT');
      assert.equal(codeOf(await resultOf(client, { query: '{nothing}' })), 'GRAPHQL_VALIDATION_FAILED');
    });
  });
}

function codeOf({ errors }: Result): unknown {
  return errors?.[0]?.extensions?.['code'];
}

async function resultOf(client: Client, request: RequestParams): Promise<Result> {
  for await (const result of client.iterate(request)) return result;
  throw new Error('No result came.');
}
