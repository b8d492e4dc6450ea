/** Whatever a client sends over a socket: the protocol's close code, and nobody else notices. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { databaseKinds } from '../databases.ts';
import { RawConnection } from '../raw-connection.ts';
import { Testbed } from '../testbed.ts';
import { SocketClient } from './socket-client.ts';

type Act = (client: SocketClient, authToken: string) => void;

interface BadInput {
  readonly title: string;
  readonly act: Act;
  readonly code: number;
  /** Before anything else, instead of after the acknowledgement. */
  readonly isFirst?: boolean;
}

const query = '{folder{name}}';
const says = (message: unknown) => (client: SocketClient) => client.send(message);
const saysRaw = (data: string | Buffer, options: { binary?: boolean } = {}) => {
  return (client: SocketClient) => client.socket.send(data, options);
};

const malformed: readonly (readonly [title: string, act: Act])[] = [
  ['text that is no JSON', saysRaw('hello')],
  ['nothing', saysRaw('')],
  ['a JSON text that ends too early', saysRaw('{"type":"ping"')],
  ['a list', says([{ type: 'ping' }])],
  ['null', says(null)],
  ['a number', says(7)],
  ['a string', says('ping')],
  ['deeply nested lists', saysRaw('['.repeat(60_000))],
  ['an object without a type', says({})],
  ['a type that is no string', says({ type: ['connection_init'] })],
  ['an unknown type', says({ type: 'connection_start' })],
  ['the name of a property as type', says({ type: 'toString' })],
  ['the name of the prototype as type', saysRaw('{"type":"__proto__","id":"1"}')],
  ['a binary frame', saysRaw(Buffer.from('{"type":"ping"}'), { binary: true })],
];

const malformedStarts: readonly (readonly [title: string, message: Record<string, unknown>])[] = [
  ['without an id', { payload: { query } }],
  ['with an empty id', { id: '', payload: { query } }],
  ['with a number as id', { id: 1, payload: { query } }],
  ['without a payload', { id: '1' }],
  ['with a text as payload', { id: '1', payload: query }],
  ['with a list as payload', { id: '1', payload: [query] }],
  ['without a query', { id: '1', payload: {} }],
  ['with a query that is no text', { id: '1', payload: { query: { query } } }],
  ['with a list of variables', { id: '1', payload: { query, variables: [] } }],
  ['with variables that are a text', { id: '1', payload: { query, variables: '{}' } }],
  ['with an operation name that is no text', { id: '1', payload: { query, operationName: 1 } }],
  ['with extensions that are no object', { id: '1', payload: { query, extensions: true } }],
];

function badInputs(start: string, stop: string): BadInput[] {
  return [
    ...malformed.flatMap(([title, act]) => [
      { title, act, code: 4400 },
      { title: `${title}, as the first message`, act, code: 4400, isFirst: true },
    ]),
    ...malformedStarts.map(([title, message]) => ({
      title: `${start} ${title}`,
      act: says({ ...message, type: start }),
      code: 4400,
    })),
    { title: `${stop} without an id`, act: says({ type: stop }), code: 4400 },
    { title: 'init with a text as payload', act: says(init('x')), code: 4400, isFirst: true },
    { title: 'init with a list as payload', act: says(init([])), code: 4400, isFirst: true },
    { title: `${start} as the first message`, act: says(started(start)), code: 4401, isFirst: true },
    { title: 'a second init', act: (client, token) => client.init(token), code: 4429 },
    {
      title: 'two inits at once',
      act: (client, token) => [client.init(token), client.init(token)],
      code: 4429,
      isFirst: true,
    },
    { title: 'a frame of 64 KiB and a byte', act: saysRaw('x'.repeat(65_537)), code: 1009 },
    { title: 'a frame of 64 MiB', act: saysRaw('x'.repeat(2 ** 26)), code: 1009, isFirst: true },
    { title: 'many fragments that are too much together', act: sendFragments, code: 1009 },
    { title: 'text that is not UTF-8', act: saysRaw(Buffer.from([0xff]), { binary: false }), code: 1007 },
  ];
}

const init = (payload: unknown) => ({ type: 'connection_init', payload });
const started = (type: string) => ({ id: '1', type, payload: { query } });

function sendFragments({ socket }: SocketClient): void {
  for (let sent = 0; sent < 100; sent++) socket.send('x'.repeat(1_000), { fin: false });
}

const inputs: Readonly<Record<string, BadInput[]>> = {
  'graphql-transport-ws': [
    ...badInputs('subscribe', 'complete'),
    { title: 'a message of the older protocol', act: says(started('start')), code: 4400 },
    { title: 'a ping with a text as payload', act: says({ type: 'ping', payload: 'x' }), code: 4400 },
    { title: 'a pong with a list as payload', act: says({ type: 'pong', payload: [] }), code: 4400 },
    {
      title: 'an id in use',
      act: (client) => ['1', '1'].forEach((id) => client.start(id, 'subscription{folderChanges{kind}}')),
      code: 4409,
    },
  ],
  'graphql-ws': [
    ...badInputs('start', 'stop'),
    { title: 'a message of the newer protocol', act: says(started('subscribe')), code: 4400 },
    { title: 'a ping, which it does not have', act: says({ type: 'ping' }), code: 4400 },
  ],
};

for (const kind of databaseKinds) {
  for (const [protocol, rows] of Object.entries(inputs)) {
    describe(`bad input over ${protocol} on ${kind.name}`, () => {
      let bed: Testbed;
      let authToken: string;
      let witness: SocketClient;
      before(async () => {
        bed = await Testbed.start(kind);
        ({ authToken } = await bed.logIn());
        witness = await SocketClient.connect(bed.url, authToken);
      });
      after(() => bed.stop());

      const assertOthersAreServed = async () => {
        witness.start('1', query);
        assert.deepEqual((await witness.next()).payload, { data: { folder: { name: 'Root' } } });
        assert.equal((await witness.next()).type, 'complete');
      };

      for (const { title, act, code, isFirst } of rows) {
        test(`${title}: ${code}`, async () => {
          const options = { protocols: [protocol] };
          const client = isFirst
            ? await SocketClient.open(bed.url, options)
            : await SocketClient.connect(bed.url, authToken, options);
          act(client, authToken);
          const closed = await client.closed();
          assert.equal(closed.code, code, closed.reason);
          assert.deepEqual(client.unread, []);
          await assertOthersAreServed();
        });
      }

      test('no init within ten seconds: 4408', async () => {
        const client = await SocketClient.open(bed.url, { protocols: [protocol] });
        bed.clock.advanceSeconds(9);
        const later = await SocketClient.connect(bed.url, authToken, { protocols: [protocol] });
        assert.deepEqual(client.unread, []);
        bed.clock.advanceSeconds(1);
        assert.deepEqual(await client.closed(), { code: 4408, reason: 'Connection initialisation timeout' });
        await later.close();
        await assertOthersAreServed();
      });

      test('a thousand subscriptions on one socket: a hundred run, the others are refused', async () => {
        const client = await SocketClient.connect(bed.url, authToken, { protocols: [protocol] });
        const { data } = (await bed.query('{cursor}', authToken)).json<{ data: { cursor: string } }>();
        const watch = `subscription{folderChanges(after:"${data.cursor}"){kind}}`;
        for (let id = 0; id < 1_000; id++) client.start(String(id), watch);
        for (let id = 100; id < 1_000; id++) {
          const { type, id: refused, payload } = await client.next();
          assert.deepEqual([type, refused], ['error', String(id)]);
          const [error] = [payload].flat() as unknown as { extensions: { code: string } }[];
          assert.equal(error!.extensions.code, 'TOO_EXPENSIVE');
        }
        await bed.query(`mutation{createFolder(input:{name:"${protocol}"}){cursor}}`, authToken);
        const ids = new Set<string>();
        while (ids.size < 100) ids.add((await client.next()).id!);
        assert.ok(!ids.has('100'));
        await client.close();
        await assertOthersAreServed();
      });

      test('bytes that are no frames end the connection, and nobody else notices', async () => {
        const { host } = new URL(bed.url);
        const head = `GET /graphql HTTP/1.1\r\nHost: ${host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Protocol: ${protocol}\r\n\r\n`;
        // Nothing sensible; a reserved bit; not masked; a long control frame; a length beyond all numbers.
        for (const bytes of [
          'hello, world',
          '\xf1\x80',
          '\x81\x02{}',
          '\x89\xfe\x01\x00',
          '\x81\xff'.padEnd(14, '\xff'),
        ]) {
          const connection = await RawConnection.open(bed.url);
          assert.equal((await connection.exchange(head))?.status, 101);
          await connection.exchange(bytes);
          connection.close();
          await assertOthersAreServed();
        }
      });
    });
  }
}
