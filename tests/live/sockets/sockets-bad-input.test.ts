/**
 * Invalid input over a socket: the server closes the socket with the code of the protocol. Other clients are not
 * affected.
 */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../../support/databases.ts';
import { RawConnection } from '../../support/raw-connection.ts';
import { Testbed } from '../../support/testbed.ts';
import { SocketClient } from '../socket-client.ts';

type Action = (client: SocketClient, authToken: string) => void;

interface BadInput {
  readonly title: string;
  readonly action: Action;
  readonly code: number;
  /** Sent as the first message, not after the acknowledgement. */
  readonly isFirst?: boolean;
}

const query = '{folder{name}}';
const sendJson = (message: unknown) => (client: SocketClient) => client.send(message);
const sendRaw = (data: string | Buffer, options: { binary?: boolean } = {}) => {
  return (client: SocketClient) => client.socket.send(data, options);
};

const malformed: readonly (readonly [title: string, action: Action])[] = [
  ['text that is not JSON', sendRaw('hello')],
  ['an empty text', sendRaw('')],
  ['a truncated JSON text', sendRaw('{"type":"ping"')],
  ['a list', sendJson([{ type: 'ping' }])],
  ['null', sendJson(null)],
  ['a number', sendJson(7)],
  ['a string', sendJson('ping')],
  ['deeply nested lists', sendRaw('['.repeat(60_000))],
  ['an object without a type', sendJson({})],
  ['a type that is not a string', sendJson({ type: ['connection_init'] })],
  ['an unknown type', sendJson({ type: 'connection_start' })],
  ['the name of an inherited property as type', sendJson({ type: 'toString' })],
  ['the name of the prototype as type', sendRaw('{"type":"__proto__","id":"1"}')],
  ['a binary frame', sendRaw(Buffer.from('{"type":"ping"}'), { binary: true })],
];

const malformedStarts: readonly (readonly [title: string, message: Record<string, unknown>])[] = [
  ['without an id', { payload: { query } }],
  ['with an empty id', { id: '', payload: { query } }],
  ['with a number as id', { id: 1, payload: { query } }],
  ['without a payload', { id: '1' }],
  ['with a string as payload', { id: '1', payload: query }],
  ['with a list as payload', { id: '1', payload: [query] }],
  ['without a query', { id: '1', payload: {} }],
  ['with a query that is not a string', { id: '1', payload: { query: { query } } }],
  ['with a list of variables', { id: '1', payload: { query, variables: [] } }],
  ['with a string as variables', { id: '1', payload: { query, variables: '{}' } }],
  ['with an operation name that is not a string', { id: '1', payload: { query, operationName: 1 } }],
  ['with extensions that are not an object', { id: '1', payload: { query, extensions: true } }],
];

function badInputs(start: string, stop: string): BadInput[] {
  return [
    ...malformed.flatMap(([title, action]) => [
      { title, action, code: 4400 },
      { title: `${title}, as the first message`, action, code: 4400, isFirst: true },
    ]),
    ...malformedStarts.map(([title, message]) => ({
      title: `${start} ${title}`,
      action: sendJson({ ...message, type: start }),
      code: 4400,
    })),
    { title: `${stop} without an id`, action: sendJson({ type: stop }), code: 4400 },
    { title: 'init with a string as payload', action: sendJson(initMessage('x')), code: 4400, isFirst: true },
    { title: 'init with a list as payload', action: sendJson(initMessage([])), code: 4400, isFirst: true },
    {
      title: `${start} as the first message`,
      action: sendJson(startMessage(start)),
      code: 4401,
      isFirst: true,
    },
    { title: 'a second init', action: (client, token) => client.init(token), code: 4429 },
    {
      title: 'two inits without waiting for the first',
      action: (client, token) => [client.init(token), client.init(token)],
      code: 4429,
      isFirst: true,
    },
    { title: 'a frame of 64 KiB and a byte', action: sendRaw('x'.repeat(65_537)), code: 1009 },
    { title: 'a frame of 64 MiB', action: sendRaw('x'.repeat(2 ** 26)), code: 1009, isFirst: true },
    { title: 'many fragments that exceed the limit together', action: sendFragments, code: 1009 },
    { title: 'text that is not UTF-8', action: sendRaw(Buffer.from([0xff]), { binary: false }), code: 1007 },
  ];
}

const initMessage = (payload: unknown) => ({ type: 'connection_init', payload });
const startMessage = (type: string) => ({ id: '1', type, payload: { query } });

function sendFragments({ socket }: SocketClient): void {
  for (let sent = 0; sent < 100; sent++) socket.send('x'.repeat(1_000), { fin: false });
}

const inputs: Readonly<Record<string, BadInput[]>> = {
  'graphql-transport-ws': [
    ...badInputs('subscribe', 'complete'),
    { title: 'a message of the older protocol', action: sendJson(startMessage('start')), code: 4400 },
    {
      title: 'a ping with a string as payload',
      action: sendJson({ type: 'ping', payload: 'x' }),
      code: 4400,
    },
    { title: 'a pong with a list as payload', action: sendJson({ type: 'pong', payload: [] }), code: 4400 },
    {
      title: 'an id that is in use',
      action: (client) => ['1', '1'].forEach((id) => client.start(id, 'subscription{folderChanges{kind}}')),
      code: 4409,
    },
  ],
  'graphql-ws': [
    ...badInputs('start', 'stop'),
    { title: 'a message of the newer protocol', action: sendJson(startMessage('subscribe')), code: 4400 },
    { title: 'a ping, which this protocol does not have', action: sendJson({ type: 'ping' }), code: 4400 },
  ],
};

for (const kind of databaseKinds) {
  for (const [protocol, protocolInputs] of Object.entries(inputs)) {
    describe(`a ${protocol} socket on ${kind.name}`, () => {
      let testbed: Testbed;
      let authToken: string;
      let otherClient: SocketClient;
      before(async () => {
        testbed = await Testbed.start(kind);
        ({ authToken } = await testbed.logIn());
        otherClient = await SocketClient.connect(testbed.url, authToken);
      });
      after(() => testbed.stop());

      const assertOthersAreServed = async () => {
        otherClient.start('1', query);
        assert.deepEqual((await otherClient.next()).payload, { data: { folder: { name: 'Root' } } });
        assert.equal((await otherClient.next()).type, 'complete');
      };

      for (const { title, action, code, isFirst } of protocolInputs) {
        test(`closes with ${code} after ${title}`, async () => {
          const options = { protocols: [protocol] };
          const client = isFirst
            ? await SocketClient.open(testbed.url, options)
            : await SocketClient.connect(testbed.url, authToken, options);
          action(client, authToken);
          const closed = await client.closed();
          assert.equal(closed.code, code, closed.reason);
          assert.deepEqual(client.unread, []);
          await assertOthersAreServed();
        });
      }

      test('closes with 4408 if no `connection_init` arrives within ten seconds', async () => {
        const client = await SocketClient.open(testbed.url, { protocols: [protocol] });
        testbed.clock.advanceSeconds(9);
        const laterClient = await SocketClient.connect(testbed.url, authToken, { protocols: [protocol] });
        assert.deepEqual(client.unread, []);
        testbed.clock.advanceSeconds(1);
        assert.deepEqual(await client.closed(), { code: 4408, reason: 'Connection initialisation timeout' });
        await laterClient.close();
        await assertOthersAreServed();
      });

      test('runs a hundred subscriptions, and rejects all others', async () => {
        const client = await SocketClient.connect(testbed.url, authToken, { protocols: [protocol] });
        const { data } = (await testbed.query('{cursor}', authToken)).json<{ data: { cursor: string } }>();
        const watch = `subscription{folderChanges(after:"${data.cursor}"){kind}}`;
        for (let id = 0; id < 1_000; id++) client.start(String(id), watch);
        for (let id = 100; id < 1_000; id++) {
          const { type, id: rejectedId, payload } = await client.next();
          assert.deepEqual([type, rejectedId], ['error', String(id)]);
          const [error] = [payload].flat() as unknown as { extensions: { code: string } }[];
          assert.equal(error!.extensions.code, 'TOO_EXPENSIVE');
        }
        await testbed.query(`mutation{createFolder(input:{name:"${protocol}"}){cursor}}`, authToken);
        const ids = new Set<string>();
        while (ids.size < 100) ids.add((await client.next()).id!);
        assert.ok(!ids.has('100'));
        await client.close();
        await assertOthersAreServed();
      });

      test('closes after bytes that are not frames, without affecting other sockets', async () => {
        const { host } = new URL(testbed.url);
        const head = `GET /graphql HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`;
        // Arbitrary text; a reserved bit; an unmasked frame; a long control frame; a length that is too
        // large.
        for (const bytes of [
          'hello, world',
          '\xf1\x80',
          '\x81\x02{}',
          '\x89\xfe\x01\x00',
          '\x81\xff'.padEnd(14, '\xff'),
        ]) {
          const connection = await RawConnection.open(testbed.url);
          assert.equal((await connection.exchange(head))?.status, 101);
          await connection.exchange(bytes);
          connection.close();
          await assertOthersAreServed();
        }
      });
    });
  }
}
