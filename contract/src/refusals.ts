/**
 * The closed list of reasons why the server refuses a request. A code is the same on every endpoint. Its HTTP status
 * depends on the endpoint (see `endpoints.ts`).
 */

export const refusals = {
  BAD_INPUT: 'The request is malformed',
  INVALID_CREDENTIALS: 'The user name or the password is wrong',
  SECOND_FACTOR_REQUIRED: 'The password is correct; send the login again with a code',
  WRONG_SECOND_FACTOR: 'The password is correct, and the code is wrong or was used already',
  SECOND_FACTOR_ENROLMENT_REQUIRED: 'The password is correct; set up a second factor to log in',
  INVALID_ENROLMENT_TOKEN: 'The enrolment token is not valid; log in again',
  INVALID_AUTH_TOKEN: 'The auth token is missing, invalid or expired',
  INVALID_REFRESH_TOKEN: 'The refresh token is not valid; log in again',
  INVALID_VIEW_TOKEN: 'The view token is not valid, or the view has ended',
  NOT_FOUND: 'The requested item does not exist',
  FORBIDDEN: 'You do not have permission to do this',
  CONFLICT: 'The change conflicts with the current state',
  CYCLE: 'A folder cannot be inside itself',
  TOO_MANY_ATTEMPTS: 'Too many failed attempts; wait before the next one',
  METHOD_NOT_ALLOWED: 'This address does not accept this method',
  NOT_ACCEPTABLE: 'The server supports none of the accepted media types',
  TOO_EXPENSIVE: 'The request costs too much; request less at once',
  TOO_LARGE: 'The request body is too large',
  UNSUPPORTED_MEDIA_TYPE: 'The request body has an unsupported media type',
  UNAVAILABLE: 'The server cannot do this now; try again later',
  INTERNAL: 'The server failed; report the request id to its operator',
} as const;

export type RefusalCode = keyof typeof refusals;

/** The values of `extensions.code` in a GraphQL error. `toGraphCode` maps every other refusal to such a value. */
export const graphCodes = {
  BAD_INPUT:
    'An argument, a variable or the request is invalid. The message says what is invalid and why. If a text is invalid, `extensions.inputField` names its input field',
  NOT_FOUND: 'The requested item does not exist, or you cannot see it',
  FORBIDDEN: 'You can see the item, but you do not have permission for this operation',
  CONFLICT:
    'The name is taken (`extensions.inputField` names its input field), `expectedVersion` is not the current version (which is in `extensions.version`), or the current state does not allow the change',
  CYCLE: 'A folder cannot be moved into itself or into one of its descendants',
  TOO_EXPENSIVE:
    'The query costs too much. `extensions` contains the `field`, its `cost` and the `limit`; the message says how to reduce the cost',
  INVALID_AUTH_TOKEN: 'The auth token is missing, invalid or expired',
  INVALID_VIEW_TOKEN: 'The view token is not valid in this session, or the view has ended',
  UNAVAILABLE: 'The server is overloaded, is stopping, or cannot use its database',
  INTERNAL: 'The server failed; its log contains the cause under the request id',
  GRAPHQL_PARSE_FAILED: 'The query is not valid GraphQL',
  GRAPHQL_VALIDATION_FAILED: 'The query does not match the schema',
  PERSISTED_QUERY_NOT_SUPPORTED:
    'The request contains the hash of a query (`extensions.persistedQuery`) instead of its text, and the server does not store queries',
} as const;

export type GraphCode = keyof typeof graphCodes;

export function toGraphCode(code: RefusalCode): GraphCode {
  if (code === 'TOO_MANY_ATTEMPTS') return 'UNAVAILABLE';
  return code in graphCodes ? (code as GraphCode) : 'BAD_INPUT';
}
