/** The npm package graphql-ws, set up as its recipes say, on a socket that lives longer than its token. */

import assert from 'node:assert/strict';
import { after, before, describe, test, type TestContext } from 'node:test';
import { createClient, type Client, type ClientOptions } from 'graphql-ws';
import { WebSocket as WsWebSocket } from 'ws';
import { databaseKinds } from '../databases.ts';
import type { Person } from '../people/people-bed.ts';
import { expired, makeFolder, tokenSeconds, warningSeconds, WatchedBed, whoAmI } from './watched-bed.ts';
import { WatchingProgram, type Result } from './watching-program.ts';

const implementations = { 'the package ws': WsWebSocket, Node: WebSocket };
const mostTokens = 3;

for (const kind of databaseKinds) {
  for (const [owner, webSocketImpl] of Object.entries(implementations)) {
    describe(`graphql-ws with the WebSocket of ${owner} on ${kind.name}`, { timeout: 60_000 }, () => {
      let bed: WatchedBed;
      let ann: Person;
      before(async () => {
        bed = await WatchedBed.start(kind);
        ann = await bed.createWatcher();
      });
      after(() => bed.stop());

      const connect = (program: WatchingProgram, test: TestContext, on: ClientOptions['on'] = {}): Client => {
        const client = createClient({
          url: bed.socketUrl,
          webSocketImpl,
          connectionParams: async () => ({ authorization: await program.authorization() }),
          on,
        });
        test.after(() => client.dispose());
        return client;
      };

      test('prolongs in band at each warning, and outlives token after token on one socket', async (context) => {
        const program = await WatchingProgram.start(bed, ann);
        const warnings: unknown[] = [];
        let connections = 0;
        let socket: { send(frame: string): void };
        let prolonged = Promise.withResolvers<void>();
        const prolong = async () => {
          await program.refresh();
          const payload = { authorization: await program.authorization() };
          socket.send(JSON.stringify({ type: 'pong', payload }));
          prolonged.resolve();
        };
        const client = connect(program, context, {
          connected: (opened) => {
            socket = opened as typeof socket;
            connections++;
          },
          ping: (isReceived, payload) => {
            if (!isReceived) return;
            warnings.push(payload);
            prolong().catch(prolonged.reject);
          },
        });
        watch(client, program);
        await bed.writeFolders(1);
        await program.until(1);

        for (let tokens = 1; tokens <= mostTokens; tokens++) {
          // Each is over long before the warning of the next.
          await bed.advance(tokenSeconds - warningSeconds);
          await bed.writeFolders(1);
          await prolonged.promise;
          prolonged = Promise.withResolvers();
          const warning = { reason: 'TOKEN_EXPIRES', expiresAt: bed.timeIn(warningSeconds) };
          assert.deepEqual(warnings.at(-1), warning);
          const viewer = { user: { username: ann.username }, tokenExpiresAt: bed.timeIn(tokenSeconds) };
          assert.deepEqual(await resultOf(client, whoAmI), { data: { viewer } });
          await bed.writeFolders(2);
          await program.until(1 + tokens * 3);
        }
        assert.equal(warnings.length, mostTokens);
        assert.equal(connections, 1);
        await program.assertMissedNothing();
      });

      test('that does not prolong is closed at expiry, comes back by itself and misses nothing', async (context) => {
        const program = await WatchingProgram.start(bed, ann);
        const closed = Promise.withResolvers<CloseEventLike>();
        let connections = 0;
        const client = connect(program, context, {
          connected: () => connections++,
          closed: (event) => {
            const { code, reason } = event as CloseEventLike;
            if (code === expired.code) program.noteTokenIsOld();
            closed.resolve({ code, reason });
          },
        });
        watch(client, program);
        await bed.writeFolders(2);
        await program.until(2);

        await bed.advance(tokenSeconds);
        await bed.writeFolders(1);
        assert.deepEqual(await closed.promise, expired);
        await bed.writeFolders(2);
        await program.until(5);
        await bed.writeFolders(1);
        await program.until(6);
        assert.equal(connections, 2);
        await program.assertMissedNothing();
      });

      test('asks and changes over the socket, and is told what is wrong', async (context) => {
        const client = connect(await WatchingProgram.start(bed, ann), context);
        const made = { data: { createFolder: { folder: { name: 'orchard' } } } };
        assert.deepEqual(await resultOf(client, makeFolder('orchard')), made);
        const { errors } = await resultOf(client, makeFolder('orchard'));
        assert.equal(errors?.[0]?.extensions?.['code'], 'CONFLICT');
        await assert.rejects(resultOf(client, { query: '{nothing}' }), (refused: { message: string }[]) =>
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

function watch(client: Client, program: WatchingProgram): void {
  client.subscribe(program.subscription, {
    next: (result) => program.note(result),
    error: (error) => program.fail(error),
    complete: () => undefined,
  });
}

async function resultOf(client: Client, request: { query: string }): Promise<Result> {
  for await (const result of client.iterate(request)) return result;
  throw new Error('No result came.');
}
