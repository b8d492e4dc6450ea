/** The npm package subscriptions-transport-ws, which is not kept up any more and still in use, through expiry. */

import assert from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import { SubscriptionClient, type ClientOptions, type OperationOptions } from 'subscriptions-transport-ws';
import { WebSocket } from 'ws';
import { databaseKinds } from '../databases.ts';
import type { Person } from '../people/people-bed.ts';
import { makeFolder, tokenSeconds, WatchedBed, whoAmI } from './watched-bed.ts';
import { WatchingProgram, type Result } from './watching-program.ts';

const tokenExpired = {
  message: 'The auth token has expired.',
  extensions: { code: 'INVALID_AUTH_TOKEN' },
};

/** The package leaves a socket that takes long to connect, and whatever that says then would end the process. */
class ToleratedSocket extends WebSocket {
  constructor(url: string, protocols: string[]) {
    super(url, protocols);
    this.on('error', () => {});
  }
}

for (const kind of databaseKinds) {
  describe(`subscriptions-transport-ws on ${kind.name}`, { timeout: 60_000 }, () => {
    let bed: WatchedBed;
    let ann: Person;
    before(async () => {
      bed = await WatchedBed.start(kind);
      ann = await bed.createWatcher();
    });
    after(() => bed.stop());

    const connect = (program: WatchingProgram, test: TestContext, more: ClientOptions = {}) => {
      const connectionParams = async () => ({ authorization: await program.authorization() });
      const options = { reconnect: true, connectionParams, ...more };
      const client = new SubscriptionClient(bed.socketUrl, options, ToleratedSocket);
      test.after(() => client.close());
      return client;
    };

    test('is closed each time a token ends, comes back and misses nothing', async (context) => {
      const program = await WatchingProgram.start(bed, ann);
      const rejections: unknown[] = [];
      const client = connect(program, context, {
        connectionCallback: (error) => error && rejections.push(error),
      });
      let reconnections = 0;
      client.onReconnected(() => reconnections++);
      let disconnected = Promise.withResolvers<void>();
      client.onDisconnected(() => {
        program.noteTokenIsOld();
        disconnected.resolve();
      });
      client.request(program.subscription).subscribe({
        next: (result) => program.note(result),
        error: (error) => program.fail(error),
        complete: () => program.fail(new Error('The subscription ended.')),
      });
      await bed.writeFolders(1);
      await program.until(1);

      for (let tokens = 1; tokens <= 3; tokens++) {
        await bed.advance(tokenSeconds);
        await bed.writeFolders(1);
        await disconnected.promise;
        disconnected = Promise.withResolvers();
        await bed.writeFolders(2);
        await program.until(1 + tokens * 3);
        assert.equal(reconnections, tokens);
        assert.deepEqual(rejections, Array(tokens).fill(tokenExpired));
      }
      await program.assertMissedNothing();
    });

    test('reports an expired token when it does not reconnect, and leaves the subscription open', async (context) => {
      const program = await WatchingProgram.start(bed, ann);
      const rejected = Promise.withResolvers<unknown>();
      const disconnected = Promise.withResolvers<void>();
      const client = connect(program, context, {
        reconnect: false,
        connectionCallback: (error) => error && rejected.resolve(error),
      });
      client.onDisconnected(() => disconnected.resolve());
      let hasEnded = false;
      const end = () => (hasEnded = true);
      client
        .request(program.subscription)
        .subscribe({ next: (result) => program.note(result), error: end, complete: end });
      await bed.writeFolders(1);
      await program.until(1);
      await bed.advance(tokenSeconds);
      await disconnected.promise;
      rejected.resolve('no connection_error before the close');
      assert.deepEqual(await rejected.promise, tokenExpired);
      assert.equal(
        hasEnded,
        false,
        'an error frame for the operation would end it on clients that reconnect',
      );
    });

    test('asks and changes over the socket, and is told what is wrong', async (context) => {
      const client = connect(await WatchingProgram.start(bed, ann), context);
      const { data } = await resultOf(client, whoAmI);
      const viewer = { user: { username: ann.username }, tokenExpiresAt: bed.timeIn(tokenSeconds) };
      assert.deepEqual(data, { viewer });
      const made = { data: { createFolder: { folder: { name: 'orchard' } } } };
      assert.deepEqual(await resultOf(client, makeFolder('orchard')), made);
      const { errors } = await resultOf(client, makeFolder('orchard'));
      assert.equal(errors?.[0]?.extensions?.['code'], 'CONFLICT');
      await assert.rejects(resultOf(client, { query: '{nothing}' }), (refused: { message: string }) =>
        refused.message.includes('Cannot query field'),
      );
    });

    test('that shows a token which is over is told so, and gets in with a fresh one', async (context) => {
      const program = await WatchingProgram.start(bed, ann);
      await bed.advance(tokenSeconds);
      const refused = Promise.withResolvers<unknown>();
      const client = connect(program, context, {
        connectionCallback: (error) => {
          if (!error) return;
          program.noteTokenIsOld();
          refused.resolve(error);
        },
      });
      const asked = resultOf(client, whoAmI);
      assert.deepEqual(await refused.promise, tokenExpired);
      const viewer = { user: { username: ann.username }, tokenExpiresAt: bed.timeIn(tokenSeconds) };
      assert.deepEqual(await asked, { data: { viewer } });
    });
  });
}

function resultOf(client: SubscriptionClient, request: OperationOptions): Promise<Result> {
  return new Promise((resolve, reject) => {
    client.request(request).subscribe({ next: resolve, error: reject });
  });
}
