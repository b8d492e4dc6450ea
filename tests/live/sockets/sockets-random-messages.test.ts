/** Random messages of both WebSocket sub-protocols, in any order. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { closeCodes } from '@espalier/contract';
import fc from 'fast-check';
import { legacyProtocol, transportProtocol } from '../../../server/src/http/websocket/protocols.ts';
import { SocketClient } from '../socket-client.ts';
import { dataOf, StubApp, StubStream } from '../stub-app.ts';

describe('random messages', () => {
  let app: StubApp;
  before(async () => (app = await StubApp.start()));
  after(() => app.stop());

  test('leave the socket open or close it with a code of the contract', async () => {
    const codes = new Set<number>(Object.values(closeCodes).map(({ code }) => code));
    const id = fc.constantFrom('1', '2', '', 3, null, undefined);
    const payload = fc.constantFrom(
      undefined,
      null,
      {},
      'x',
      { query: 'stream' },
      { query: '{a}', variables: {} },
      { authorization: `Bearer ${app.token('ann')}` },
      { authorization: 'Bearer x' },
      { authorization: `Bearer ${app.token('bob')}` },
    );
    const types = [legacyProtocol, transportProtocol].flatMap(({ kinds }) => Object.keys(kinds));
    const message = fc.record({ type: fc.constantFrom(...types, 'next', ''), id, payload });
    const validInit = {
      type: 'connection_init',
      payload: { authorization: `Bearer ${app.token('ann')}` },
    };
    app.open = ({ query }) => (query === 'stream' ? new StubStream() : dataOf({}));
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('graphql-ws', 'graphql-transport-ws'),
        fc.boolean(),
        fc.array(fc.oneof({ weight: 9, arbitrary: message }, fc.string(), fc.json()), { maxLength: 12 }),
        async (protocol, isInitiated, messages) => {
          const client = await SocketClient.open(app.url, { protocols: [protocol] });
          if (isInitiated) client.send(validInit);
          for (const each of messages)
            client.socket.send(typeof each === 'string' ? each : JSON.stringify(each));
          client.socket.close(3000);
          const { code } = await client.closed();
          assert.ok(code === 3000 || codes.has(code), String(code));
        },
      ),
      { numRuns: 300 },
    );
    assert.ok(!app.logLines.some((line) => line.includes('A WebSocket failed')));
  });
});
