/**
 * What is said over a socket, in both sub-protocols, with every frame there is. The page is made from it, and a test plays it against a
 * real server: `…` is what varies.
 */

import type { SocketProtocol } from '../server/src/http/websocket/protocols.ts';
import { legacyProtocol, transportProtocol } from '../server/src/http/websocket/protocols.ts';

export interface ExampleFrame {
  readonly from: 'client' | 'server';
  readonly about: string;
  readonly frame: { readonly type: string; readonly id?: string; readonly payload?: unknown };
  /** What happens before it is sent. */
  readonly once?: 'a folder is made' | 'the token has a minute left';
}

export interface Conversation {
  readonly dialect: SocketProtocol;
  readonly frames: readonly ExampleFrame[];
}

const changes = {
  query: 'subscription ($after: String) { folderChanges(after: $after) { kind folder { path } } }',
  variables: { after: '…' },
};
const told = { data: { folderChanges: { kind: 'CREATE', folder: { path: '/Garden' } } } };
const wrong = {
  message: 'Cannot query field "nothing" on type "Query".',
  locations: [{ line: 1, column: 3 }],
  extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
};

export const conversations: readonly Conversation[] = [
  {
    dialect: transportProtocol,
    frames: [
      {
        from: 'client',
        about:
          'the first, within ten seconds; the token may be in the `Authorization` header of the upgrade instead',
        frame: { type: 'connection_init', payload: { authorization: 'Bearer …' } },
      },
      { from: 'server', about: 'the connection is open for operations', frame: { type: 'connection_ack' } },
      {
        from: 'client',
        about:
          'begins an operation under an id of its own: a query, a mutation or a subscription, with `query`, `variables` and `operationName`',
        frame: { type: 'subscribe', id: '1', payload: changes },
      },
      {
        from: 'server',
        about: 'an answer',
        once: 'a folder is made',
        frame: { type: 'next', id: '1', payload: told },
      },
      { from: 'client', about: 'ends an operation', frame: { type: 'complete', id: '1' } },
      {
        from: 'client',
        about: '',
        frame: { type: 'subscribe', id: '2', payload: { query: '{ folder { name } }' } },
      },
      {
        from: 'server',
        about: '',
        frame: { type: 'next', id: '2', payload: { data: { folder: { name: 'Root' } } } },
      },
      {
        from: 'server',
        about: 'the operation is over: all was answered',
        frame: { type: 'complete', id: '2' },
      },
      { from: 'client', about: '', frame: { type: 'subscribe', id: '3', payload: { query: '{ nothing }' } } },
      {
        from: 'server',
        about: 'the operation was refused and is over; the payload is a list of GraphQL errors',
        frame: { type: 'error', id: '3', payload: [wrong] },
      },
      {
        from: 'server',
        about: 'the auth token ends soon',
        once: 'the token has a minute left',
        frame: { type: 'ping', payload: { reason: 'TOKEN_EXPIRES', expiresAt: '…' } },
      },
      {
        from: 'client',
        about: 'an answer to a ping; with a fresh token, now or at any time, it prolongs the connection',
        frame: { type: 'pong', payload: { authorization: 'Bearer …' } },
      },
      {
        from: 'client',
        about: 'asks whether the other end is there; it may bring a fresh token, too',
        frame: { type: 'ping' },
      },
      { from: 'server', about: 'the answer to a ping; never with a payload', frame: { type: 'pong' } },
    ],
  },
  {
    dialect: legacyProtocol,
    frames: [
      {
        from: 'client',
        about:
          'the first, within ten seconds; the token may be in the `Authorization` header of the upgrade instead',
        frame: { type: 'connection_init', payload: { Authorization: 'Bearer …' } },
      },
      { from: 'server', about: 'the connection is open for operations', frame: { type: 'connection_ack' } },
      {
        from: 'client',
        about: 'begins an operation; under an id that is in use, it takes that one’s place',
        frame: { type: 'start', id: '1', payload: changes },
      },
      {
        from: 'server',
        about: 'an answer',
        once: 'a folder is made',
        frame: { type: 'data', id: '1', payload: told },
      },
      { from: 'client', about: 'ends an operation', frame: { type: 'stop', id: '1' } },
      {
        from: 'client',
        about: '',
        frame: { type: 'start', id: '2', payload: { query: '{ folder { name } }' } },
      },
      {
        from: 'server',
        about: '',
        frame: { type: 'data', id: '2', payload: { data: { folder: { name: 'Root' } } } },
      },
      {
        from: 'server',
        about: 'the operation is over: all was answered',
        frame: { type: 'complete', id: '2' },
      },
      { from: 'client', about: '', frame: { type: 'start', id: '3', payload: { query: '{ nothing }' } } },
      {
        from: 'server',
        about:
          'the operation was refused and is over; the payload is the first error, with all in `errors` if there are several',
        frame: { type: 'error', id: '3', payload: wrong },
      },
      { from: 'client', about: 'asks to be closed, with 1000', frame: { type: 'connection_terminate' } },
    ],
  },
  {
    dialect: legacyProtocol,
    frames: [
      { from: 'client', about: '', frame: { type: 'connection_init' } },
      {
        from: 'server',
        about:
          'the token is missing or invalid, or it has expired, or its session has ended; the server then closes the socket with 4403',
        frame: {
          type: 'connection_error',
          payload: {
            message: 'Send the auth token with connection_init: {"authorization": "Bearer <token>"}.',
            extensions: { code: 'INVALID_AUTH_TOKEN' },
          },
        },
      },
    ],
  },
];
