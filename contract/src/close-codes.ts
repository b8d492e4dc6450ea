/** The codes and reasons with which the server closes a socket. The graphql-transport-ws protocol defines the codes from 4400. */

export interface SocketClose {
  readonly code: number;
  readonly reason: string;
  readonly when: string;
}

export const closeCodes = {
  TERMINATED: {
    code: 1000,
    reason: 'Normal closure',
    when: 'The client asked the server to close the connection',
  },
  GOING_AWAY: {
    code: 1001,
    reason: 'Going away',
    when: 'The server is stopping. If the socket has subscriptions, the reason is `Going away; cursor=…`: all subscriptions have received every event up to this cursor',
  },
  TOO_LARGE: { code: 1009, reason: '', when: 'A frame is larger than 64 KiB' },
  UNAVAILABLE: {
    code: 1013,
    reason: 'Try again later',
    when: 'The server cannot accept connections now, or the user has too many connections; the reason names the cause',
  },
  INVALID_MESSAGE: {
    code: 4400,
    reason: 'Invalid message',
    when: 'A message has a type that the sub-protocol does not define, or invalid content; the reason names the error',
  },
  NOT_ACKNOWLEDGED: {
    code: 4401,
    reason: 'Unauthorized: wait for connection_ack',
    when: 'The client started an operation before the connection was acknowledged',
  },
  INVALID_AUTH_TOKEN: {
    code: 4403,
    reason: 'INVALID_AUTH_TOKEN',
    when: 'The auth token is missing, invalid or expired, its session was revoked, its user disabled or deleted, or its signing key retired',
  },
  INVALID_VIEW_TOKEN: {
    code: 4403,
    reason: 'INVALID_VIEW_TOKEN',
    when: 'The view token is not valid in this session, or the view has ended',
  },
  NO_SUB_PROTOCOL: {
    code: 4406,
    reason: 'Subprotocol not acceptable',
    when: 'The client offered neither graphql-transport-ws nor graphql-ws',
  },
  INIT_TIMEOUT: {
    code: 4408,
    reason: 'Connection initialisation timeout',
    when: 'The client did not send `connection_init` within ten seconds',
  },
  ID_IN_USE: {
    code: 4409,
    reason: 'Subscriber already exists',
    when: 'The id of an operation is in use (graphql-transport-ws only); the reason is `Subscriber for <id> already exists` unless the id is too long',
  },
  SECOND_INIT: {
    code: 4429,
    reason: 'Too many initialisation requests',
    when: 'The client sent a second `connection_init`',
  },
  INTERNAL: {
    code: 4500,
    reason: 'Internal server error',
    when: 'The server failed; its log contains the cause',
  },
} as const satisfies Record<string, SocketClose>;

/** Adds the cursor up to which all subscriptions of the socket have received every event, if there is one. */
export function goingAwayReason(cursor: string | undefined): string {
  const { reason } = closeCodes.GOING_AWAY;
  return cursor === undefined ? reason : `${reason}; cursor=${cursor}`;
}

export type CloseName = keyof typeof closeCodes;
