/** The npm package graphql-ws, set up by its recipes, on a socket that stays open after the first token expires. */

import assert from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import { createClient, type Client, type ClientOptions } from 'graphql-ws';
import { WebSocket as WsWebSocket } from 'ws';
import { databaseKinds } from '../support/databases.ts';
import type { Person } from '../people/people-testbed.ts';
import {
  expiredClose,
  createFolderRequest,
  tokenSeconds,
  warningSeconds,
  WatchTestbed,
  viewerQuery,
} from '../live/watch-testbed.ts';
import { SubscribingProgram, type Result } from '../live/subscribing-program.ts';

const implementations = { 'the package ws': WsWebSocket, Node: WebSocket };
const tokenCount = 3;

for (const kind of databaseKinds) {
  for (const [owner, webSocketImpl] of Object.entries(implementations)) {
    describe(`graphql-ws with the WebSocket of ${owner} on ${kind.name}`, { timeout: 60_000 }, () => {
      let testbed: WatchTestbed;
      let ann: Person;
      before(async () => {
        testbed = await WatchTestbed.start(kind);
        ann = await testbed.createWatcher();
      });
      after(() => testbed.stop());

      const connect = (
        program: SubscribingProgram,
        test: TestContext,
        on: ClientOptions['on'] = {},
      ): Client => {
        const client = createClient({
          url: testbed.socketUrl,
          webSocketImpl,
          connectionParams: async () => ({ authorization: await program.authorization() }),
          on,
        });
        test.after(() => client.dispose());
        return client;
      };

      test('sends a new token at each warning, and keeps one socket while several tokens expire', async (context) => {
        const program = await SubscribingProgram.start(testbed, ann);
        const warnings: unknown[] = [];
        let connections = 0;
        let socket: { send(frame: string): void };
        let renewal = Promise.withResolvers<void>();
        const renew = async () => {
          await program.refresh();
          const payload = { authorization: await program.authorization() };
          socket.send(JSON.stringify({ type: 'pong', payload }));
          renewal.resolve();
        };
        const client = connect(program, context, {
          connected: (opened) => {
            socket = opened as typeof socket;
            connections++;
          },
          ping: (isReceived, payload) => {
            if (!isReceived) return;
            warnings.push(payload);
            renew().catch(renewal.reject);
          },
        });
        watch(client, program);
        await testbed.writeFolders(1);
        await program.waitForChanges(1);

        for (let tokens = 1; tokens <= tokenCount; tokens++) {
          // Each token expires long before the warning for the next one.
          await testbed.advance(tokenSeconds - warningSeconds);
          await testbed.writeFolders(1);
          await renewal.promise;
          renewal = Promise.withResolvers();
          const warning = { reason: 'TOKEN_EXPIRES', expiresAt: testbed.timeIn(warningSeconds) };
          assert.deepEqual(warnings.at(-1), warning);
          const viewer = { user: { username: ann.username }, tokenExpiresAt: testbed.timeIn(tokenSeconds) };
          assert.deepEqual(await readResult(client, viewerQuery), { data: { viewer } });
          await testbed.writeFolders(2);
          await program.waitForChanges(1 + tokens * 3);
        }
        assert.equal(warnings.length, tokenCount);
        assert.equal(connections, 1);
        await program.assertMissedNothing();
      });

      test('reconnects after its token has expired without a renewal, and misses nothing', async (context) => {
        const program = await SubscribingProgram.start(testbed, ann);
        const closeEvent = Promise.withResolvers<CloseEventLike>();
        let connections = 0;
        const client = connect(program, context, {
          connected: () => connections++,
          closed: (event) => {
            const { code, reason } = event as CloseEventLike;
            if (code === expiredClose.code) program.markTokenExpired();
            closeEvent.resolve({ code, reason });
          },
        });
        watch(client, program);
        await testbed.writeFolders(2);
        await program.waitForChanges(2);

        await testbed.advance(tokenSeconds);
        await testbed.writeFolders(1);
        assert.deepEqual(await closeEvent.promise, expiredClose);
        await testbed.writeFolders(2);
        await program.waitForChanges(5);
        await testbed.writeFolders(1);
        await program.waitForChanges(6);
        assert.equal(connections, 2);
        await program.assertMissedNothing();
      });

      test('runs queries and mutations over the socket, and reports errors', async (context) => {
        const client = connect(await SubscribingProgram.start(testbed, ann), context);
        const expected = { data: { createFolder: { folder: { name: 'orchard' } } } };
        assert.deepEqual(await readResult(client, createFolderRequest('orchard')), expected);
        const { errors } = await readResult(client, createFolderRequest('orchard'));
        assert.equal(errors?.[0]?.extensions?.['code'], 'CONFLICT');
        await assert.rejects(readResult(client, { query: '{nothing}' }), (errors: { message: string }[]) =>
          errors[0]!.message.includes('Cannot query field'),
        );
      });
    });
  }
}

interface CloseEventLike {
  readonly code: number;
  readonly reason: string;
}

function watch(client: Client, program: SubscribingProgram): void {
  client.subscribe(program.subscription, {
    next: (result) => program.receive(result),
    error: (error) => program.fail(error),
    complete: () => undefined,
  });
}

async function readResult(client: Client, request: { query: string }): Promise<Result> {
  for await (const result of client.iterate(request)) return result;
  throw new Error('The operation returned no result.');
}
