/** The npm package graphql-ws, set up by its recipes, on a socket that stays open after the first token expires. */

import assert from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import { createClient, type Client, type ClientOptions } from 'graphql-ws';
import { WebSocket as WsWebSocket } from 'ws';
import { databaseKinds } from '../support/databases.ts';
import type { Person } from '../people/people-testbed.ts';
import {
  expired,
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
      let server: WatchTestbed;
      let ann: Person;
      before(async () => {
        server = await WatchTestbed.start(kind);
        ann = await server.createWatcher();
      });
      after(() => server.stop());

      const connect = (
        program: SubscribingProgram,
        test: TestContext,
        on: ClientOptions['on'] = {},
      ): Client => {
        const client = createClient({
          url: server.socketUrl,
          webSocketImpl,
          connectionParams: async () => ({ authorization: await program.authorization() }),
          on,
        });
        test.after(() => client.dispose());
        return client;
      };

      test('sends a new token at each warning, and keeps one socket while several tokens expire', async (context) => {
        const program = await SubscribingProgram.start(server, ann);
        const warnings: unknown[] = [];
        let connections = 0;
        let socket: { send(frame: string): void };
        let renewed = Promise.withResolvers<void>();
        const renew = async () => {
          await program.refresh();
          const payload = { authorization: await program.authorization() };
          socket.send(JSON.stringify({ type: 'pong', payload }));
          renewed.resolve();
        };
        const client = connect(program, context, {
          connected: (opened) => {
            socket = opened as typeof socket;
            connections++;
          },
          ping: (isReceived, payload) => {
            if (!isReceived) return;
            warnings.push(payload);
            renew().catch(renewed.reject);
          },
        });
        watch(client, program);
        await server.writeFolders(1);
        await program.waitForChanges(1);

        for (let tokens = 1; tokens <= tokenCount; tokens++) {
          // Each token expires long before the warning for the next one.
          await server.advance(tokenSeconds - warningSeconds);
          await server.writeFolders(1);
          await renewed.promise;
          renewed = Promise.withResolvers();
          const warning = { reason: 'TOKEN_EXPIRES', expiresAt: server.timeIn(warningSeconds) };
          assert.deepEqual(warnings.at(-1), warning);
          const viewer = { user: { username: ann.username }, tokenExpiresAt: server.timeIn(tokenSeconds) };
          assert.deepEqual(await readResult(client, viewerQuery), { data: { viewer } });
          await server.writeFolders(2);
          await program.waitForChanges(1 + tokens * 3);
        }
        assert.equal(warnings.length, tokenCount);
        assert.equal(connections, 1);
        await program.assertMissedNothing();
      });

      test('reconnects by itself if it has not renewed the expired token, and misses nothing', async (context) => {
        const program = await SubscribingProgram.start(server, ann);
        const closed = Promise.withResolvers<CloseEventLike>();
        let connections = 0;
        const client = connect(program, context, {
          connected: () => connections++,
          closed: (event) => {
            const { code, reason } = event as CloseEventLike;
            if (code === expired.code) program.markTokenExpired();
            closed.resolve({ code, reason });
          },
        });
        watch(client, program);
        await server.writeFolders(2);
        await program.waitForChanges(2);

        await server.advance(tokenSeconds);
        await server.writeFolders(1);
        assert.deepEqual(await closed.promise, expired);
        await server.writeFolders(2);
        await program.waitForChanges(5);
        await server.writeFolders(1);
        await program.waitForChanges(6);
        assert.equal(connections, 2);
        await program.assertMissedNothing();
      });

      test('runs queries and mutations over the socket, and reports errors', async (context) => {
        const client = connect(await SubscribingProgram.start(server, ann), context);
        const expected = { data: { createFolder: { folder: { name: 'orchard' } } } };
        assert.deepEqual(await readResult(client, createFolderRequest('orchard')), expected);
        const { errors } = await readResult(client, createFolderRequest('orchard'));
        assert.equal(errors?.[0]?.extensions?.['code'], 'CONFLICT');
        await assert.rejects(readResult(client, { query: '{nothing}' }), (refused: { message: string }[]) =>
          refused[0]!.message.includes('Cannot query field'),
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
