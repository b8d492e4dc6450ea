/**
 * The two sub-protocols as data: what their messages are called, and where their customs differ.
 * graphql-transport-ws: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md; graphql-ws, the older:
 * https://github.com/apollographql/subscriptions-transport-ws/blob/master/PROTOCOL.md
 */

import type { GraphRequest } from '@espalier/contract';
import type { GraphQLFormattedError } from 'graphql';
import type { GraphResult } from '../../graph/graph.ts';
import { Refusal } from '../../refusal.ts';
import { optionalObject, toGraphRequest } from '../routes/graphql-request.ts';

export type Payload = Readonly<Record<string, unknown>> | null;

/** What a client can say, in either dialect. */
export type ClientMessage =
  | { readonly kind: 'init' | 'ping' | 'pong'; readonly payload: Payload }
  | { readonly kind: 'start'; readonly id: string; readonly request: GraphRequest; readonly length: number }
  | { readonly kind: 'stop'; readonly id: string }
  | { readonly kind: 'terminate' };

export interface SocketProtocol {
  readonly name: string;
  readonly kinds: Readonly<Record<string, ClientMessage['kind']>>;
  /** What the message with a result is called. */
  readonly resultType: string;
  readonly toErrorPayload: (errors: readonly GraphQLFormattedError[]) => unknown;
  /** Type of the message that gives the reason for a rejected token before the close, if there is one. */
  readonly connectionError: string | undefined;
  /** Operations may be sent before the acknowledgement; they wait for it. */
  readonly allowsEarlyStart: boolean;
  /** An operation under an id in use takes its place. */
  readonly replacesSameId: boolean;
  /** The server may ping. */
  readonly hasPing: boolean;
}

export const transportProtocol: SocketProtocol = {
  name: 'graphql-transport-ws',
  kinds: { connection_init: 'init', subscribe: 'start', complete: 'stop', ping: 'ping', pong: 'pong' },
  resultType: 'next',
  toErrorPayload: (errors) => errors,
  connectionError: undefined,
  allowsEarlyStart: false,
  replacesSameId: false,
  hasPing: true,
};

export const legacyProtocol: SocketProtocol = {
  name: 'graphql-ws',
  kinds: { connection_init: 'init', start: 'start', stop: 'stop', connection_terminate: 'terminate' },
  resultType: 'data',
  // One error as an object; its clients look for the others in `errors`.
  toErrorPayload: (errors) => (errors.length > 1 ? { ...errors[0], errors } : errors[0]),
  connectionError: 'connection_error',
  allowsEarlyStart: true,
  replacesSameId: true,
  hasPing: false,
};

const closingBrace = '}'.charCodeAt(0);

/** The one that is preferred first. */
export const protocols: readonly SocketProtocol[] = [transportProtocol, legacyProtocol];

/** Refuses as BAD_INPUT what is no message of the dialect; the text never repeats what was sent. */
export function readMessage(text: string, { kinds, name }: SocketProtocol): ClientMessage {
  const message = parseObject(text);
  const { type, id, payload } = message;
  if (typeof type !== 'string' || !Object.hasOwn(kinds, type)) {
    throw new Refusal('BAD_INPUT', `A message of ${name} needs a known \`type\`.`);
  }
  const kind = kinds[type]!;
  switch (kind) {
    case 'terminate':
      return { kind };
    case 'init':
    case 'ping':
    case 'pong':
      return { kind, payload: optionalObject(payload, 'payload') };
    case 'start':
      return {
        kind,
        id: requiredId(id),
        request: toGraphRequest(optionalObject(payload, 'payload') ?? {}),
        length: text.length,
      };
    case 'stop':
      return { kind, id: requiredId(id) };
  }
}

export function writeMessage(message: { type: string; id?: string; payload?: unknown }): string {
  return JSON.stringify(message);
}

/** How the messages with results of an operation begin. */
export function startOfResult(id: string, { resultType }: SocketProtocol): Buffer {
  return Buffer.from(`{"id":${JSON.stringify(id)},"type":"${resultType}","payload":`);
}

/** A message whose payload is JSON already. As bytes: ws takes longer to write a text, and equal payloads are copied. */
export function writeResult(start: Buffer, { text, bytes }: Pick<GraphResult, 'text' | 'bytes'>): Buffer {
  const payload = bytes?.();
  const length = payload ? payload.length : Buffer.byteLength(text);
  const message = Buffer.allocUnsafe(start.length + length + 1);
  message.set(start);
  if (payload) message.set(payload, start.length);
  else message.write(text, start.length);
  message[message.length - 1] = closingBrace;
  return message;
}

function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes what was sent, and with it perhaps a token.
    throw new Refusal('BAD_INPUT', 'A message must be JSON.');
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  throw new Refusal('BAD_INPUT', 'A message must be a JSON object.');
}

function requiredId(id: unknown): string {
  if (typeof id === 'string' && id !== '') return id;
  throw new Refusal('BAD_INPUT', 'The message needs `id`, a string that is not empty.');
}
