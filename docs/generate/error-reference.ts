/**
 * Creates the page of all error codes: of problem documents, GraphQL errors and closed sockets. The contract has their
 * meanings. This file adds the advice for each code; a code without advice does not compile.
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
import { formatTable } from './markdown.ts';

const tokenAdvice = 'Refresh, and send it again; if refreshing answers 401, log in';

const viewAdvice = 'Continue without it, or start a new view with `startViewAs`';

const refusalAdvice: Readonly<Record<RefusalCode, string>> = {
  BAD_INPUT: 'Correct the request; `detail` says what is wrong',
  INVALID_CREDENTIALS: 'Ask for the password again',
  INVALID_AUTH_TOKEN: tokenAdvice,
  INVALID_VIEW_TOKEN: viewAdvice,
  INVALID_REFRESH_TOKEN: 'Log in: the session is over, or another refresh was faster',
  NOT_FOUND: 'Look at the address, and at the base path',
  FORBIDDEN: 'Serve the page from an origin in `ESPALIER_CORS_ORIGINS`',
  CONFLICT: 'Read again, then decide',
  CYCLE: 'Choose another place',
  TOO_MANY_ATTEMPTS: 'Wait for `Retry-After` seconds',
  METHOD_NOT_ALLOWED: 'Use a method of the `Allow` header',
  NOT_ACCEPTABLE: 'Send another `Accept`, or none',
  TOO_EXPENSIVE: 'Ask for less at once',
  TOO_LARGE: 'Send less at once',
  UNSUPPORTED_MEDIA_TYPE: 'Send the `Content-Type` that the endpoint takes',
  UNAVAILABLE: 'Try again after `Retry-After` seconds, or after a moment that grows',
  INTERNAL: 'Nothing; tell the operator the `requestId`',
};

const inGraphOnly = 'only as a [graph code](#graph-codes)';
const upgrade = 'the upgrade to a WebSocket';

/** Sources of a refusal that the table of endpoints does not list, by status. */
const otherSources: Readonly<Partial<Record<RefusalCode, string | Readonly<Record<number, string>>>>> = {
  BAD_INPUT: {
    400: 'what cannot be read as HTTP',
    408: 'what does not come in time',
    417: 'an `Expect` other than `100-continue`',
    426: '`/graphql/ws` without an upgrade',
    431: 'a head over 16 KiB',
  },
  INVALID_AUTH_TOKEN: { 401: upgrade },
  INVALID_VIEW_TOKEN: { 403: upgrade },
  NOT_FOUND: { 404: 'any other address' },
  FORBIDDEN: { 403: upgrade },
  CONFLICT: inGraphOnly,
  CYCLE: inGraphOnly,
  METHOD_NOT_ALLOWED: { 405: 'any address' },
  NOT_ACCEPTABLE: '406: `/graphql`, as `BAD_INPUT`',
  TOO_EXPENSIVE: inGraphOnly,
  INTERNAL: { 500: 'any address' },
};

const graphCodeAdvice: Readonly<Record<GraphCode, string>> = {
  BAD_INPUT: 'Correct the request',
  NOT_FOUND: 'Drop what you had of it',
  FORBIDDEN: 'Ask for access; `explainAccess` tells an administrator why',
  CONFLICT: 'Read again, then decide: another name, or the change anew over the current version',
  CYCLE: 'Choose another place',
  TOO_EXPENSIVE: 'Page the named field, or ask for fewer fields ([Price](limits.md))',
  INVALID_AUTH_TOKEN: tokenAdvice,
  INVALID_VIEW_TOKEN: viewAdvice,
  UNAVAILABLE: 'Try again after a moment; a mutation under the same `Idempotency-Key`',
  INTERNAL: 'Nothing; tell the operator the `requestId`, or when it was',
  GRAPHQL_PARSE_FAILED: 'Correct the document',
  GRAPHQL_VALIDATION_FAILED: 'Correct the document, or read the schema anew',
  PERSISTED_QUERY_NOT_SUPPORTED:
    'Send the text in `query`. The links of Apollo Client and urql do so by themselves',
};

const closeAdvice: Readonly<Record<CloseName, string>> = {
  TERMINATED: 'Nothing',
  GOING_AWAY: 'Connect again, and subscribe after that cursor',
  TOO_LARGE: 'Send it over HTTP',
  UNAVAILABLE: 'Connect again after a moment that grows',
  INVALID_MESSAGE: 'Correct the client',
  NOT_ACKNOWLEDGED: 'Wait for `connection_ack`',
  INVALID_AUTH_TOKEN: 'Refresh and connect again; log in if that answers 401',
  INVALID_VIEW_TOKEN: viewAdvice,
  NO_SUB_PROTOCOL: 'Offer one of the two',
  INIT_TIMEOUT: 'Send `connection_init` at once',
  ID_IN_USE: 'Use another id',
  SECOND_INIT: 'Send it once',
  INTERNAL: 'Connect again after a moment that grows',
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
  const { refusals, graphCodes, closeCodes, endpoints } = tables;
  return `<!-- Made by npm run generate. -->

# Errors

Three closed lists, in which nothing is renamed and nothing taken away ([Versions](../operators/upgrade.md)). Treat a code that you do not know by its
status, or as \`INTERNAL\`. Texts are for people, and may change.

## Refusal codes

All endpoints but \`/graphql\` refuse with \`application/problem+json\` (RFC 9457), and so do, there too, upgrades to a WebSocket and what cannot be
read as a request: \`code\` is one of these, \`detail\` says more, and \`requestId\` is what the server has logged it under. An expired auth token is told by
the header \`token-expired: true\` where the [endpoint](endpoints.md) says so. A body never holds a password, a token or a stack. A code has one meaning everywhere, but not
one status: that belongs to the endpoint.

${formatTable(
  ['Code', 'Meaning', 'Status, and where', 'What to do'],
  Object.entries(refusals).map(([code, meaning]) => [
    `\`${code}\``,
    meaning,
    formatStatuses(code as RefusalCode, endpoints),
    refusalAdvice[code as RefusalCode] ?? '',
  ]),
)}

${graphCodeSection(graphCodes, refusals)}

## Close codes of sockets

For WebSockets at \`/graphql\` and \`/graphql/ws\`; [Socket frames](socket-frames.md) shows what is sent over them.

${formatTable(
  ['Code', 'Reason', 'When', 'What to do'],
  Object.entries(closeCodes).map(([name, { code, reason, when }]) => [
    String(code),
    reason && `\`${reason}\``,
    when,
    closeAdvice[name as CloseName] ?? '',
  ]),
)}
`;
}

function graphCodeSection(
  graphCodes: Readonly<Record<string, string>>,
  refusals: Readonly<Record<string, string>>,
): string {
  return `## Graph codes

\`/graphql\` refuses with GraphQL errors, over HTTP, sockets and event streams; \`extensions.code\` is one of these. The status of an answer with
errors is 200 for \`Accept: application/json\` unless the [endpoint](endpoints.md#post-or-get-graphql) says otherwise. Each error has
\`extensions.requestId\`, the id under which the server logs the request. Over a socket, it is the id of the request that opened the socket. Only an error in an event of
a subscription may have none, because several clients can share the event. Send the id to the operator: the log has the cause of an \`INTERNAL\` error under it.

${formatTable(
  ['Code', 'Meaning', 'What to do'],
  Object.entries(graphCodes).map(([code, meaning]) => [
    `\`${code}\``,
    meaning,
    graphCodeAdvice[code as GraphCode] ?? '',
  ]),
)}

Refusal codes that are not among them appear as: ${formatMappedCodes(Object.keys(refusals))}.`;
}

function formatMappedCodes(codes: readonly string[]): string {
  return codes
    .filter((code) => toGraphCode(code as RefusalCode) !== code)
    .map((code) => `\`${code}\` as \`${toGraphCode(code as RefusalCode)}\``)
    .join(', ');
}

function formatStatuses(code: RefusalCode, all: Readonly<Record<string, Endpoint>>): string {
  const paths = new Map<number, string[]>();
  for (const endpoint of Object.values(all)) {
    if (endpoint.refusalFormat !== 'problem') continue;
    const refusal = listRefusals(endpoint).find(([other]) => other === code);
    if (!refusal) continue;
    const [, { status }] = refusal;
    paths.set(status, [...(paths.get(status) ?? []), `\`${endpoint.path}\``]);
  }
  const more = otherSources[code];
  if (typeof more === 'string') return more;
  for (const [status, where] of Object.entries(more ?? {})) {
    paths.set(Number(status), [...(paths.get(Number(status)) ?? []), where]);
  }
  return [...paths].map(([status, where]) => `${status}: ${where.join(', ')}`).join('; ');
}
