/**
 * Example conversations over a socket with every frame of both sub-protocols. The page of frames is generated from them, and a
 * test runs them against a real server. `…` stands for values that vary.
 */

import {
  legacyProtocol,
  transportProtocol,
  type SocketProtocol,
} from '../../server/src/http/websocket/protocols.ts';

export interface ExampleFrame {
  readonly from: 'client' | 'server';
  readonly about: string;
  readonly frame: { readonly type: string; readonly id?: string; readonly payload?: unknown };
  /** The event that precedes this frame. */
  readonly once?: 'a folder is made' | 'the token has a minute left';
}

export interface Conversation {
  readonly protocol: SocketProtocol;
  readonly frames: readonly ExampleFrame[];
}

const changes = {
  query: 'subscription ($after: String) { folderChanges(after: $after) { kind folder { path } } }',
  variables: { after: '…' },
};
const eventPayload = { data: { folderChanges: { kind: 'CREATE', folder: { path: '/Garden' } } } };
const validationError = {
  message: 'Cannot query field "nothing" on type "Query".',
  locations: [{ line: 1, column: 3 }],
  extensions: { code: 'GRAPHQL_VALIDATION_FAILED', requestId: '…' },
};

export const conversations: readonly Conversation[] = [
  {
    protocol: transportProtocol,
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
        frame: { type: 'next', id: '1', payload: eventPayload },
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
        frame: { type: 'error', id: '3', payload: [validationError] },
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
    protocol: legacyProtocol,
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
        frame: { type: 'data', id: '1', payload: eventPayload },
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
        frame: { type: 'error', id: '3', payload: validationError },
      },
      { from: 'client', about: 'asks to be closed, with 1000', frame: { type: 'connection_terminate' } },
    ],
  },
  {
    protocol: legacyProtocol,
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
            extensions: { code: 'INVALID_AUTH_TOKEN', requestId: '…' },
          },
        },
      },
    ],
  },
];
