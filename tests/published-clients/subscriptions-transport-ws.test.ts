/** The npm package subscriptions-transport-ws, unmaintained but still in use, across token expiry. */

import assert from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import { SubscriptionClient, type ClientOptions, type OperationOptions } from 'subscriptions-transport-ws';
import { WebSocket } from 'ws';
import { databaseKinds } from '../support/databases.ts';
import type { Person } from '../people/people-testbed.ts';
import { createFolderRequest, tokenSeconds, WatchTestbed, viewerQuery } from '../live/watch-testbed.ts';
import { SubscribingProgram, type Result } from '../live/subscribing-program.ts';

interface ConnectionError {
  readonly message: string;
  readonly extensions: { readonly code: string; readonly requestId: string };
}

function assertTokenExpired(error: unknown): void {
  const { message, extensions } = error as ConnectionError;
  assert.equal(message, 'The auth token has expired.');
  assert.equal(extensions.code, 'INVALID_AUTH_TOKEN');
  assert.match(extensions.requestId, /^\S+$/);
}

/**
 * The package abandons a socket that connects slowly. An unhandled error of the socket would end the process.
 */
class ErrorIgnoringSocket extends WebSocket {
  constructor(url: string, protocols: string[]) {
    super(url, protocols);
    this.on('error', () => {});
  }
}

for (const kind of databaseKinds) {
  describe(`subscriptions-transport-ws on ${kind.name}`, { timeout: 60_000 }, () => {
    let testbed: WatchTestbed;
    let ann: Person;
    before(async () => {
      testbed = await WatchTestbed.start(kind);
      ann = await testbed.createWatcher();
    });
    after(() => testbed.stop());

    const connect = (program: SubscribingProgram, test: TestContext, more: ClientOptions = {}) => {
      const connectionParams = async () => ({ authorization: await program.authorization() });
      const options = { reconnect: true, connectionParams, ...more };
      const client = new SubscriptionClient(testbed.socketUrl, options, ErrorIgnoringSocket);
      test.after(() => client.close());
      return client;
    };

    test('reconnects after each token expiry, and misses nothing', async (context) => {
      const program = await SubscribingProgram.start(testbed, ann);
      const rejections: unknown[] = [];
      const client = connect(program, context, {
        connectionCallback: (error) => error && rejections.push(error),
      });
      let reconnections = 0;
      client.onReconnected(() => reconnections++);
      let disconnection = Promise.withResolvers<void>();
      client.onDisconnected(() => {
        program.markTokenExpired();
        disconnection.resolve();
      });
      client.request(program.subscription).subscribe({
        next: (result) => program.receive(result),
        error: (error) => program.fail(error),
        complete: () => program.fail(new Error('The subscription ended.')),
      });
      await testbed.writeFolders(1);
      await program.waitForChanges(1);

      for (let tokens = 1; tokens <= 3; tokens++) {
        await testbed.advance(tokenSeconds);
        await testbed.writeFolders(1);
        await disconnection.promise;
        disconnection = Promise.withResolvers();
        await testbed.writeFolders(2);
        await program.waitForChanges(1 + tokens * 3);
        assert.equal(reconnections, tokens);
        assert.equal(rejections.length, tokens);
        assertTokenExpired(rejections.at(-1));
      }
      await program.assertMissedNothing();
    });

    test('reports an expired token when it does not reconnect, and leaves the subscription open', async (context) => {
      const program = await SubscribingProgram.start(testbed, ann);
      const rejection = Promise.withResolvers<unknown>();
      const disconnection = Promise.withResolvers<void>();
      const client = connect(program, context, {
        reconnect: false,
        connectionCallback: (error) => error && rejection.resolve(error),
      });
      client.onDisconnected(() => disconnection.resolve());
      let hasEnded = false;
      const end = () => (hasEnded = true);
      client
        .request(program.subscription)
        .subscribe({ next: (result) => program.receive(result), error: end, complete: end });
      await testbed.writeFolders(1);
      await program.waitForChanges(1);
      await testbed.advance(tokenSeconds);
      await disconnection.promise;
      rejection.resolve('no connection_error before the close');
      assertTokenExpired(await rejection.promise);
      assert.equal(
        hasEnded,
        false,
        'an error frame for the operation would end it on clients that reconnect',
      );
    });

    test('runs queries and mutations over the socket, and reports errors', async (context) => {
      const client = connect(await SubscribingProgram.start(testbed, ann), context);
      const { data } = await readResult(client, viewerQuery);
      const viewer = { user: { username: ann.username }, tokenExpiresAt: testbed.timeIn(tokenSeconds) };
      assert.deepEqual(data, { viewer });
      const expected = { data: { createFolder: { folder: { name: 'orchard' } } } };
      assert.deepEqual(await readResult(client, createFolderRequest('orchard')), expected);
      const { errors } = await readResult(client, createFolderRequest('orchard'));
      assert.equal(errors?.[0]?.extensions?.['code'], 'CONFLICT');
      await assert.rejects(readResult(client, { query: '{nothing}' }), (refused: { message: string }) =>
        refused.message.includes('Cannot query field'),
      );
    });

    test('reports an expired token when it connects, and connects with a fresh one', async (context) => {
      const program = await SubscribingProgram.start(testbed, ann);
      await testbed.advance(tokenSeconds);
      const rejection = Promise.withResolvers<unknown>();
      const client = connect(program, context, {
        connectionCallback: (error) => {
          if (!error) return;
          program.markTokenExpired();
          rejection.resolve(error);
        },
      });
      const response = readResult(client, viewerQuery);
      assertTokenExpired(await rejection.promise);
      const viewer = { user: { username: ann.username }, tokenExpiresAt: testbed.timeIn(tokenSeconds) };
      assert.deepEqual(await response, { data: { viewer } });
    });
  });
}

function readResult(client: SubscriptionClient, request: OperationOptions): Promise<Result> {
  return new Promise((resolve, reject) => {
    client.request(request).subscribe({ next: resolve, error: reject });
  });
}
