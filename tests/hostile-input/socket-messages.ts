/**
 * WebSocket input: messages of both sub-protocols, damaged and out of order, in frames that violate RFC 6455.
 */

import type { Random } from '../many-nodes/chaos/random.ts';
import { graphPayload } from './bodies-and-queries.ts';
import { mutateBytes, oddNumbers } from './byte-mutations.ts';
import type { GraphDocuments } from './graph-documents.ts';
import { writeJson, mutateJson } from './hostile-json.ts';
import { toBytes, type Frame, type HostileRequest } from './hostile-request.ts';
import { writeRequest } from './http-requests.ts';

interface Dialect {
  readonly protocol: string;
  readonly start: string;
  readonly others: readonly string[];
}

const dialects: readonly Dialect[] = [
  {
    protocol: 'graphql-transport-ws',
    start: 'subscribe',
    others: ['complete', 'ping', 'pong', 'connection_init'],
  },
  { protocol: 'graphql-ws', start: 'start', others: ['stop', 'connection_terminate', 'connection_init'] },
];

const init = { type: 'connection_init', payload: { authorization: 'Bearer $AT$' } };
const text = 1;
const close = 8;
const ping = 9;
const oddOpcodes = [0, 2, 3, 7, close, ping, 10, 11, 15];
/** More operations than a socket may have open. */
const floodSize = 150;

export function hostileSocket(random: Random, documents: GraphDocuments): HostileRequest {
  const dialect = random.pick(dialects);
  const frames = createFrames(random, dialect, documents).flatMap((frame) => damageFrame(random, frame));
  return {
    kind: 'socket',
    parts: [upgrade(random, dialect)],
    frames,
    // Most clients wait for the response to the first message.
    ...(random.chance(0.7) && { framesBefore: 1 }),
  };
}

function upgrade(random: Random, { protocol }: Dialect): string {
  const right = writeRequest({
    method: 'GET',
    path: random.chance(0.5) ? '/graphql' : '/graphql/ws',
    headers: [
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      `Sec-WebSocket-Protocol: ${protocol}`,
      ...(random.chance(0.2) ? ['Authorization: Bearer $AT$'] : []),
      ...(random.chance(0.05)
        ? ['Sec-WebSocket-Extensions: permessage-deflate; server_max_window_bits=x']
        : []),
    ],
  });
  return random.chance(0.9) ? right : mutateBytes(random, right);
}

function createFrames(random: Random, dialect: Dialect, documents: GraphDocuments): Frame[] {
  const messages: string[] = random.chance(0.9) ? [toBytes(JSON.stringify(init))] : [];
  const count = random.chance(0.02) ? floodSize : random.below(6);
  for (let sent = 0; sent < count; sent++) messages.push(createMessage(random, dialect, documents));
  const inOrder = random.chance(0.85) ? messages : random.shuffle(messages);
  return inOrder.map(createFrame);
}

function createMessage(random: Random, { start, others }: Dialect, documents: GraphDocuments): string {
  const id = random.pick(['1', '1', '2', '3', 'x'.repeat(200), '__proto__']);
  const message = random.chance(0.6)
    ? { id, type: start, payload: graphPayload(random, documents.make(random)) }
    : { id, type: random.pick(others), ...(random.chance(0.3) && { payload: init.payload }) };
  if (random.chance(0.8)) return toBytes(JSON.stringify(message));
  return writeJson(random, mutateJson(random, message as Parameters<typeof mutateJson>[1]));
}

function createFrame(payload: string): Frame {
  return { isFinal: true, reserved: 0, opcode: text, isMasked: true, payload };
}

/** Most frames are valid; a message may span several. */
function damageFrame(random: Random, frame: Frame): Frame[] {
  if (random.chance(0.8)) return [frame];
  const { payload } = frame;
  const half = random.below(payload.length + 1);
  const first = { ...frame, isFinal: false, payload: payload.slice(0, half) };
  const last = { ...frame, opcode: 0, payload: payload.slice(half) };
  switch (random.below(10)) {
    case 0:
      return [first, last];
    case 1:
      return [first, { ...frame, opcode: ping, payload: 'still there?' }, last];
    case 2:
      return [first, frame];
    case 3:
      return [{ ...frame, opcode: random.pick(oddOpcodes) }];
    case 4:
      return [{ ...frame, reserved: 1 + random.below(7) }];
    case 5:
      return [{ ...frame, isMasked: false }];
    case 6:
      return [{ ...frame, claims: Math.abs(Number(random.pick(oddNumbers))) % 2 ** 53 || 0 }];
    case 7:
      return [{ ...frame, cutAt: random.below(payload.length + 6) }];
    case 8:
      return [
        {
          ...frame,
          opcode: close,
          payload: random.pick(['', '\x03', '\x03\xe8', '\x00\x00', '\x03\xe8\xff', '\x13\x88x']),
        },
      ];
    default:
      return [{ ...frame, payload: random.chance(0.2) ? 'x'.repeat(70_000) : mutateBytes(random, payload) }];
  }
}
