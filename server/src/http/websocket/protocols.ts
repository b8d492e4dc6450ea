/**
 * The two sub-protocols as data: the types of their messages and the rules in which they differ.
 * graphql-transport-ws: https://github.com/enisdenjo/graphql-ws/blob/master/PROTOCOL.md; the older graphql-ws: https://github.com/apollographql/subscriptions-transport-ws/blob/master/PROTOCOL.md
 */

import type { GraphRequest } from '@espalier/contract';
import type { GraphQLFormattedError } from 'graphql';
import type { GraphResult } from '../../graph/graph.ts';
import { Refusal } from '../../refusal.ts';
import { parseObject } from '../json-body.ts';
import { optionalObject, toGraphRequest } from '../routes/graphql-request.ts';

export type Payload = Readonly<Record<string, unknown>> | null;

/** The messages of clients, in either protocol. */
export type ClientMessage =
  | { readonly kind: 'init' | 'ping' | 'pong'; readonly payload: Payload }
  | { readonly kind: 'start'; readonly id: string; readonly request: GraphRequest; readonly length: number }
  | { readonly kind: 'stop'; readonly id: string }
  | { readonly kind: 'terminate' };

export interface SocketProtocol {
  readonly name: string;
  /** The kind of each message type. */
  readonly kinds: Readonly<Record<string, ClientMessage['kind']>>;
  /** Type of the message with a result. */
  readonly resultType: string;
  readonly toErrorPayload: (errors: readonly GraphQLFormattedError[]) => unknown;
  /** The type of the message that gives the reason for a rejected token before the close. Undefined if the protocol has none. */
  readonly connectionError: string | undefined;
  /** Whether operations may be sent before the acknowledgement. They then wait for it. */
  readonly allowsEarlyStart: boolean;
  /** Whether a new operation replaces an operation with the same id. */
  readonly replacesSameId: boolean;
  /** Whether the server may ping. */
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
  // The first error as an object. Clients of this protocol read further errors from `errors`.
  toErrorPayload: (errors) => (errors.length > 1 ? { ...errors[0], errors } : errors[0]),
  connectionError: 'connection_error',
  allowsEarlyStart: true,
  replacesSameId: true,
  hasPing: false,
};

const closingBrace = '}'.charCodeAt(0);

/** In order of preference. */
export const protocols: readonly SocketProtocol[] = [transportProtocol, legacyProtocol];

/** Throws BAD_INPUT for an invalid message. The error never quotes the message. */
export function readMessage(text: string, { kinds, name }: SocketProtocol): ClientMessage {
  const message = parseObject(text, 'A message');
  const { type, id, payload } = message;
  if (typeof type !== 'string' || !Object.hasOwn(kinds, type)) {
    throw new Refusal('BAD_INPUT', `The \`type\` of a message must be one that ${name} defines.`);
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

/** The beginning of each message with a result of an operation. */
export function startOfResult(id: string, { resultType }: SocketProtocol): Buffer {
  return Buffer.from(`{"id":${JSON.stringify(id)},"type":"${resultType}","payload":`);
}

/** Builds bytes around a payload that is already JSON. ws takes longer for text, and equal payloads only have to be copied. */
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

function requiredId(id: unknown): string {
  if (typeof id === 'string' && id !== '') return id;
  throw new Refusal('BAD_INPUT', 'The message must contain `id`, a non-empty string.');
}
