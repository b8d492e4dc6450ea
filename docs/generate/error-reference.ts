/**
 * Creates the page of all error codes: of problem documents, GraphQL errors and closed sockets. The contract package has their
 * meanings. This file adds the advice for each code. If a code has no advice, this file does not compile.
 */

import {
  closeCodes,
  endpoints,
  graphCodes,
  refusals,
  listRefusals,
  toGraphCode,
  type CloseName,
  type Endpoint,
  type GraphCode,
  type RefusalCode,
  type SocketClose,
} from '@espalier/contract';

interface Advice {
  readonly advice: string;
  /** A message that the server sends with this code. */
  readonly example?: string;
}

const viewAdvice = 'Leave the view, or start a new one with `startViewAs`.';
const retryAdvice = 'Connect again after a pause, and double the pause after each failure.';

/** The advice for each code of a problem document or a GraphQL error. */
const errorAdvice: Readonly<Record<RefusalCode | GraphCode, Advice>> = {
  BAD_INPUT: {
    advice: 'Correct the request.',
    example: 'A folder name must not contain a slash or a control character.',
  },
  INVALID_CREDENTIALS: { advice: 'Ask the user for the password again.' },
  SECOND_FACTOR_REQUIRED: {
    advice:
      'Ask the user for a code, and send the login again with the same user name and password and the `code`. The response confirms that the password is correct.',
    example:
      'The password is correct. Send the login again with a `code`: a code of your authenticator app or a recovery code. Or sign in with a passkey.',
  },
  WRONG_SECOND_FACTOR: {
    advice:
      'Ask the user for the next code. If all codes are wrong, the clock of the phone or of the server is wrong.',
  },
  SECOND_FACTOR_ENROLMENT_REQUIRED: {
    advice:
      'Let the user set up an authenticator app with the `enrolmentToken` in the response. If your client cannot do this, ask the user to log in to the console once. See [Second factors](../administrators/second-factor.md).',
  },
  INVALID_ENROLMENT_TOKEN: { advice: 'Send the login again to get a new token.' },
  INVALID_AUTH_TOKEN: {
    advice:
      'Refresh the tokens and send the request again. If the refresh returns 401, log in again. In HTTP responses, the header `token-expired: true` marks an expired token.',
    example: 'The auth token has expired.',
  },
  INVALID_REFRESH_TOKEN: {
    advice:
      'Ask the user for the password. Either the session has ended, or another request has already used the refresh token.',
  },
  INVALID_VIEW_TOKEN: {
    advice: viewAdvice,
    example: 'This view has ended. Start it again with `startViewAs`.',
  },
  NOT_FOUND: {
    advice:
      'For an HTTP 404, check the path and the base path of the server. If a folder, a user or a group is not found and your client has a copy of it, remove the copy.',
    example: 'There is no user with this id.',
  },
  FORBIDDEN: {
    advice:
      'Ask for access. An administrator can find the reason for the refusal with `explainAccess`. If a web page cannot open a WebSocket, add the origin of the page to `ESPALIER_CORS_ORIGINS`.',
    example: 'Only administrators may do this.',
  },
  CONFLICT: {
    advice:
      'Read the folder again. Then choose another name, or repeat your change with the current version.',
    example: 'The folder has changed since you read it: its version is 8, not 7. Read it again.',
  },
  CYCLE: { advice: 'Choose another parent.' },
  TOO_MANY_ATTEMPTS: {
    advice: 'Wait for the number of seconds in `Retry-After`.',
    example: 'Too many failed attempts. Try again in 4 seconds.',
  },
  METHOD_NOT_ALLOWED: { advice: 'Use one of the methods in the `Allow` header of the response.' },
  NOT_ACCEPTABLE: { advice: 'Send `Accept: application/json`, or no `Accept` header.' },
  TOO_EXPENSIVE: {
    advice:
      'Request fewer fields, or smaller pages of the field that the error names. [Limits](limits.md#cost-of-a-query) lists all limits.',
    example: '`first` of folder.folders is 30000; the maximum is 20000. Request smaller pages.',
  },
  TOO_LARGE: {
    advice:
      'Send a smaller body, or several requests. See [What does 413 mean here?](limits.md#what-does-413-mean-here)',
    example:
      'The request body is larger than the limit of 16 KiB (16384 bytes). Send a smaller body, or split it into several requests.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    advice: 'Send the `Content-Type` of the endpoint, and no `Content-Encoding`.',
    example: 'Send the body with Content-Type: application/json.',
  },
  UNAVAILABLE: {
    advice:
      'Try again after the number of seconds in `Retry-After`. If this header is missing, double the pause after each failure. Repeat a mutation with the same `Idempotency-Key`.',
    example: 'The server is overloaded. Try again in a moment.',
  },
  INTERNAL: { advice: 'Report the `requestId` to the operator of the server.' },
  GRAPHQL_PARSE_FAILED: { advice: 'Correct the query.', example: 'Syntax Error: Expected Name, found "}".' },
  GRAPHQL_VALIDATION_FAILED: {
    advice: 'Correct the query. If your copy of the schema is old, read the schema again.',
    example: 'Cannot query field "nothing" on type "Query".',
  },
  PERSISTED_QUERY_NOT_SUPPORTED: {
    advice: 'Send the text of the query in `query`. Apollo Client and urql do this automatically.',
  },
};

const handshake = 'the handshake of a WebSocket';

/** Sources of a problem document that the table of endpoints does not list, by status. */
const otherSources: Readonly<Partial<Record<RefusalCode, Readonly<Record<number, string>>>>> = {
  BAD_INPUT: {
    400: 'a request that is not valid HTTP',
    408: 'a request that does not arrive in time',
    417: 'an `Expect` header other than `100-continue`',
    426: '`/graphql/ws` without an upgrade',
    431: 'a request line and headers of more than 16 KiB',
  },
  INVALID_AUTH_TOKEN: { 401: handshake },
  INVALID_VIEW_TOKEN: { 403: handshake },
  NOT_FOUND: { 404: 'any path that does not exist' },
  FORBIDDEN: { 403: `${handshake} from a page of another origin` },
  METHOD_NOT_ALLOWED: { 405: 'any path' },
  INTERNAL: { 500: 'any path' },
};

const closeAdvice: Readonly<Record<CloseName, string>> = {
  TERMINATED: 'No action is needed.',
  GOING_AWAY: 'Connect again, and subscribe with this cursor as `after`.',
  TOO_LARGE: 'Send the request over HTTP.',
  UNAVAILABLE: retryAdvice,
  INVALID_MESSAGE: 'Correct the message in your client.',
  NOT_ACKNOWLEDGED: 'Wait for `connection_ack`.',
  INVALID_AUTH_TOKEN: 'Refresh the tokens and connect again. If the refresh returns 401, log in again.',
  INVALID_VIEW_TOKEN: viewAdvice,
  NO_SUB_PROTOCOL: 'Offer one of the two sub-protocols.',
  INIT_TIMEOUT: 'Send `connection_init` as soon as the socket is open.',
  ID_IN_USE: 'Use a new id for each operation.',
  SECOND_INIT: 'Send `connection_init` only once.',
  INTERNAL: retryAdvice,
};

export interface ErrorTables {
  readonly refusals: Readonly<Record<string, string>>;
  readonly graphCodes: Readonly<Record<string, string>>;
  readonly closeCodes: Readonly<Record<string, SocketClose>>;
  readonly endpoints: Readonly<Record<string, Endpoint>>;
}

export function createErrorReference(
  tables: ErrorTables = { refusals, graphCodes, closeCodes, endpoints },
): string {
  const codes = new Set([...Object.keys(tables.refusals), ...Object.keys(tables.graphCodes)]);
  return `<!-- Made by npm run generate. -->

# Errors

Look up an error code: when it occurs, and what you can do. Your client can rely on the codes: a release may add codes, but does not rename or
remove them ([Versions](versions.md)). If your client receives a code that it does not support, treat it like \`INTERNAL\`. Messages are for people and can change in any release.

## Format of an error

\`/graphql\` returns GraphQL errors, also over WebSockets and event streams. For example:

\`\`\`json
{
  "errors": [
    {
      "message": "There is no user with this id.",
      "path": ["user"],
      "extensions": { "code": "NOT_FOUND", "requestId": "dYx0J3cN-17" }
    }
  ]
}
\`\`\`

All other endpoints return \`application/problem+json\` (RFC 9457). You also get this format for a refused WebSocket handshake, and for a request that
is not valid HTTP. For example:

\`\`\`json
{
  "type": "about:blank",
  "title": "Unauthorized",
  "status": 401,
  "detail": "The user name or the password is wrong.",
  "code": "INVALID_CREDENTIALS",
  "requestId": "dYx0J3cN-18"
}
\`\`\`

Give the request id to the operator of the server, who can find the request and the cause of an \`INTERNAL\` error in the log. On a WebSocket, errors contain the id of the request that opened the socket.
An error in an event of a subscription may have no request id, because several clients can share the event. Errors never contain a password, a token or a stack trace.

The status depends on the [endpoint](endpoints.md). Most GraphQL errors have status 200 ([details](endpoints.md#post-or-get-graphql)).

## Error codes

${[...codes].map((code) => formatError(code, tables)).join('\n')}
## Close codes of sockets

The server closes a WebSocket at \`/graphql\` or \`/graphql/ws\` with one of these codes. [Socket frames](socket-frames.md) describes all other messages.

${Object.entries(tables.closeCodes)
  .map(([name, close]) => formatClose(close, closeAdvice[name as CloseName]))
  .join('\n')}`;
}

function formatError(code: string, { refusals, graphCodes, endpoints }: ErrorTables): string {
  const meaning = graphCodes[code] ?? refusals[code] ?? '';
  const { advice, example }: Partial<Advice> =
    (errorAdvice as Readonly<Record<string, Advice | undefined>>)[code] ?? {};
  const statuses = formatStatuses(code as RefusalCode, endpoints);
  const graphCode = code in graphCodes ? code : toGraphCode(code as RefusalCode);
  const facts = [
    ...(code in refusals && code in graphCodes && refusals[code] !== meaning
      ? [`- Default message: “${refusals[code]}.”`]
      : []),
    ...statuses.map((text) => `- Status ${text}`),
    `- In GraphQL errors: ${graphCode === code ? 'yes' : `as \`${graphCode}\``}`,
    ...(example === undefined ? [] : [`- Example: “${example}”`]),
  ];
  return `### ${code}

${meaning}.

${advice ?? ''}

${facts.join('\n')}
`;
}

/** One line for each status, with the sources of problem documents that have it. */
function formatStatuses(code: RefusalCode, all: Readonly<Record<string, Endpoint>>): string[] {
  const paths = new Map<number, string[]>();
  const add = (status: number, source: string) => paths.set(status, [...(paths.get(status) ?? []), source]);
  for (const endpoint of Object.values(all)) {
    const [, refusal] = listRefusals(endpoint).find(([other]) => other === code) ?? [];
    if (refusal) add(refusal.status, `\`${endpoint.path}\``);
  }
  for (const [status, source] of Object.entries(otherSources[code] ?? {})) add(Number(status), source);
  return [...paths].map(([status, where]) => `${status}: ${where.join(', ')}`);
}

function formatClose({ code, reason, when }: SocketClose, advice: string | undefined): string {
  return `### ${code}${reason && ` ${reason}`}

${when}. ${advice ?? ''}
`;
}
