/**
 * Example conversations over a socket with every frame of both sub-protocols. The page about socket frames is generated from these
 * conversations, and a test runs them against a real server. `…` stands for values that vary.
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
  readonly once?: 'a folder is created' | 'the token has a minute left';
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
          'the first frame, which you must send within ten seconds. It needs no payload if the upgrade request has an `Authorization` header with the auth token',
        frame: { type: 'connection_init', payload: { authorization: 'Bearer …' } },
      },
      { from: 'server', about: 'you can send operations now', frame: { type: 'connection_ack' } },
      {
        from: 'client',
        about:
          'starts a query, a mutation or a subscription under an id of your choice. The payload has `query`, and optionally `variables` and `operationName`',
        frame: { type: 'subscribe', id: '1', payload: changes },
      },
      {
        from: 'server',
        about: 'one result of the operation',
        once: 'a folder is created',
        frame: { type: 'next', id: '1', payload: eventPayload },
      },
      { from: 'client', about: 'stops the operation', frame: { type: 'complete', id: '1' } },
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
        about: 'the operation has ended, and all results were sent',
        frame: { type: 'complete', id: '2' },
      },
      { from: 'client', about: '', frame: { type: 'subscribe', id: '3', payload: { query: '{ nothing }' } } },
      {
        from: 'server',
        about: 'the operation was refused. The payload is a list of GraphQL errors',
        frame: { type: 'error', id: '3', payload: [validationError] },
      },
      {
        from: 'server',
        about: 'the auth token expires soon. Refresh the tokens, and send the new auth token',
        once: 'the token has a minute left',
        frame: { type: 'ping', payload: { reason: 'TOKEN_EXPIRES', expiresAt: '…' } },
      },
      {
        from: 'client',
        about: 'answers a ping. You can also send it at any time with a new auth token',
        frame: { type: 'pong', payload: { authorization: 'Bearer …' } },
      },
      {
        from: 'client',
        about: 'checks the connection. The payload may contain a new auth token',
        frame: { type: 'ping' },
      },
      { from: 'server', about: 'answers a ping, without a payload', frame: { type: 'pong' } },
    ],
  },
  {
    protocol: legacyProtocol,
    frames: [
      {
        from: 'client',
        about:
          'the first frame, which you must send within ten seconds. It needs no payload if the upgrade request has an `Authorization` header with the auth token',
        frame: { type: 'connection_init', payload: { Authorization: 'Bearer …' } },
      },
      { from: 'server', about: 'you can send operations now', frame: { type: 'connection_ack' } },
      {
        from: 'client',
        about: 'starts an operation. If the id is in use, the new operation replaces the one with this id',
        frame: { type: 'start', id: '1', payload: changes },
      },
      {
        from: 'server',
        about: 'one result of the operation',
        once: 'a folder is created',
        frame: { type: 'data', id: '1', payload: eventPayload },
      },
      { from: 'client', about: 'stops the operation', frame: { type: 'stop', id: '1' } },
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
        about: 'the operation has ended, and all results were sent',
        frame: { type: 'complete', id: '2' },
      },
      { from: 'client', about: '', frame: { type: 'start', id: '3', payload: { query: '{ nothing }' } } },
      {
        from: 'server',
        about:
          'the operation was refused. The payload is the first error. If there are several errors, its member `errors` lists them',
        frame: { type: 'error', id: '3', payload: validationError },
      },
      { from: 'client', about: 'closes the socket with 1000', frame: { type: 'connection_terminate' } },
    ],
  },
  {
    protocol: legacyProtocol,
    frames: [
      { from: 'client', about: '', frame: { type: 'connection_init' } },
      {
        from: 'server',
        about:
          'the token is missing, invalid or expired, or its session was revoked. The server then closes the socket with 4403',
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
