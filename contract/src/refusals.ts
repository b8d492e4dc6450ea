/**
 * The closed list of reasons why the server refuses a request. A code is the same on every endpoint. Its HTTP status
 * depends on the endpoint (see `endpoints.ts`).
 */

export const refusals = {
  BAD_INPUT: 'The request is malformed',
  INVALID_CREDENTIALS: 'The user name or the password is wrong',
  INVALID_AUTH_TOKEN: 'The auth token is missing, not valid or expired',
  INVALID_REFRESH_TOKEN: 'The refresh token is not valid',
  NOT_FOUND: 'There is nothing here',
  FORBIDDEN: 'This is not allowed to you',
  CONFLICT: 'It does not fit what is there',
  CYCLE: 'A folder cannot be inside itself',
  TOO_MANY_ATTEMPTS: 'Too many wrong passwords; there is a pause before the next attempt',
  METHOD_NOT_ALLOWED: 'This address does not take that method',
  NOT_ACCEPTABLE: 'None of the accepted media types can be answered',
  TOO_EXPENSIVE: 'The request asks for too much at once',
  TOO_LARGE: 'The request body is too large',
  UNSUPPORTED_MEDIA_TYPE: 'The request body has an unsupported media type',
  UNAVAILABLE: 'The service cannot do this right now',
  INTERNAL: 'The service failed',
} as const;

export type RefusalCode = keyof typeof refusals;

/** The values of `extensions.code` in a GraphQL error. `toGraphCode` maps every other refusal to such a value. */
export const graphCodes = {
  BAD_INPUT: 'An argument, a variable or the request itself cannot be used; the message says which and why',
  NOT_FOUND: 'What the operation names does not exist, or the viewer may not see it',
  FORBIDDEN: 'The viewer may see it, but not do this to it',
  CONFLICT:
    'A name that is not free, a stale `expectedVersion` (the current one is in `extensions.version`), or a state that does not allow it',
  CYCLE: 'A folder cannot be moved into itself or into what is inside it',
  TOO_EXPENSIVE:
    'The query costs too much; `extensions` name the `field`, its `price` and the `budget`, and the message says how to ask for less',
  INVALID_AUTH_TOKEN: 'The auth token is missing, not valid or expired',
  UNAVAILABLE: 'The service cannot do this right now; try again later',
  INTERNAL: 'The service failed; the cause is in its log',
  GRAPHQL_PARSE_FAILED: 'The query is not GraphQL',
  GRAPHQL_VALIDATION_FAILED: 'The query does not fit the schema',
  PERSISTED_QUERY_NOT_SUPPORTED:
    'The request has the hash of a query (`extensions.persistedQuery`) instead of its text; the server stores no queries',
} as const;

export type GraphCode = keyof typeof graphCodes;

export function toGraphCode(code: RefusalCode): GraphCode {
  if (code === 'TOO_MANY_ATTEMPTS') return 'UNAVAILABLE';
  return code in graphCodes ? (code as GraphCode) : 'BAD_INPUT';
}
