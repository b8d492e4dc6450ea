/** The codes and reasons with which the server closes a socket. The graphql-transport-ws protocol defines those from 4400. */

export interface SocketClose {
  readonly code: number;
  readonly reason: string;
  readonly when: string;
}

export const closeCodes = {
  TERMINATED: { code: 1000, reason: 'Normal closure', when: 'The client asked for it' },
  GOING_AWAY: {
    code: 1001,
    reason: 'Going away',
    when: 'The service stops; connect again. For a socket with subscriptions the reason is `Going away; cursor=…`: everything up to that cursor was told to all of them',
  },
  TOO_LARGE: { code: 1009, reason: '', when: 'A frame over 64 KiB' },
  UNAVAILABLE: {
    code: 1013,
    reason: 'Try again later',
    when: 'The service cannot admit anybody right now, or the user has too many connections; the reason says which',
  },
  INVALID_MESSAGE: {
    code: 4400,
    reason: 'Invalid message',
    when: 'A message that the sub-protocol does not know, or of a wrong shape; the reason says what is wrong',
  },
  NOT_ACKNOWLEDGED: {
    code: 4401,
    reason: 'Unauthorized: wait for connection_ack',
    when: 'An operation before the connection was acknowledged',
  },
  INVALID_AUTH_TOKEN: {
    code: 4403,
    reason: 'INVALID_AUTH_TOKEN',
    when: 'The auth token is missing or not valid, or it has expired, or its session or user was ended: connect again with a fresh one',
  },
  NO_SUB_PROTOCOL: {
    code: 4406,
    reason: 'Subprotocol not acceptable',
    when: 'The client offered neither graphql-transport-ws nor graphql-ws',
  },
  INIT_TIMEOUT: {
    code: 4408,
    reason: 'Connection initialisation timeout',
    when: 'No `connection_init` within ten seconds',
  },
  ID_IN_USE: {
    code: 4409,
    reason: 'Subscriber already exists',
    when: 'An operation under an id that is in use (graphql-transport-ws only); unless the id is too long for it, the reason is `Subscriber for <id> already exists`',
  },
  SECOND_INIT: {
    code: 4429,
    reason: 'Too many initialisation requests',
    when: 'A second `connection_init`',
  },
  INTERNAL: {
    code: 4500,
    reason: 'Internal server error',
    when: 'The service failed; the cause is in its log',
  },
} as const satisfies Record<string, SocketClose>;

/** Adds the cursor up to which all subscriptions of the socket have received every event, if there is one. */
export function goingAwayReason(cursor: string | undefined): string {
  const { reason } = closeCodes.GOING_AWAY;
  return cursor === undefined ? reason : `${reason}; cursor=${cursor}`;
}

export type CloseName = keyof typeof closeCodes;
