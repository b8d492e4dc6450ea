/** Generates requests that are valid HTTP but have invalid bodies or queries. */

import type { Random } from '../many-nodes/chaos/random.ts';
import { mutateBytes } from './byte-mutations.ts';
import type { GraphDocument, GraphDocuments } from './graph-documents.ts';
import { writeJson, mutateJson, oddValue } from './hostile-json.ts';
import { toBytes, type HostileRequest } from './hostile-request.ts';
import { bearer, writeRequest } from './http-requests.ts';

interface Target {
  readonly path: string;
  readonly body: Record<string, string>;
  readonly headers: readonly string[];
}

const contentType = 'Content-Type: application/json';
const targets: readonly Target[] = [
  { path: '/login/refresh', body: { refreshToken: '$RT$x' }, headers: [bearer] },
  { path: '/login/refresh', body: { refreshToken: '$AT$' }, headers: [bearer] },
  { path: '/login/verify', body: { authToken: '$AT$' }, headers: [] },
  { path: '/logout', body: { refreshToken: '$RT$x' }, headers: [] },
  { path: '/graphql', body: { query: '{folder{name}}', operationName: 'A' }, headers: [bearer] },
];
/** Rare, because almost every login costs a password hash. */
const login: Target = { path: '/login', body: { username: 'nobody', password: '$PASSWORD$' }, headers: [] };
const loginShare = 0.01;

const contentTypes = [
  contentType,
  'Content-Type: application/json; charset=utf-8',
  'content-type: text/plain',
  'Content-Type: application/json; charset=x',
  'Content-Type: multipart/form-data; boundary=x',
  'X-Nothing: x',
];
const accepts = [
  'Accept: */*',
  'Accept: application/json',
  'Accept: application/graphql-response+json',
  'Accept: application/graphql-response+json;q=0.1, application/json;q=x',
  'Accept: text/html',
  'Accept: application/*;q=0',
];

export function hostileBody(random: Random): HostileRequest {
  const { path, body, headers } = random.chance(loginShare) ? login : random.pick(targets);
  const text = writeJson(random, mutateJson(random, body));
  const type = random.chance(0.85) ? contentType : random.pick(contentTypes);
  return {
    kind: 'body',
    isValidHttp: true,
    parts: [writeRequest({ path, headers: [...headers, type] }, text)],
  };
}

export function hostileQuery(random: Random, documents: GraphDocuments): HostileRequest {
  const document = documents.make(random);
  const accept = random.chance(0.9) ? random.pick(accepts.slice(0, 3)) : random.pick(accepts);
  const authorization = random.chance(0.8) ? bearer : 'Authorization: Bearer $READERAT$';
  if (random.chance(0.1)) {
    const path = `/graphql?${writeParameters(random, document)}`;
    return {
      kind: 'graph',
      isValidHttp: true,
      parts: [writeRequest({ method: 'GET', path, headers: [authorization, accept] })],
    };
  }
  const wantsEvents = document.isSubscription && random.chance(0.8);
  const headers = [contentType, authorization, wantsEvents ? 'Accept: text/event-stream' : accept];
  const body = graphBody(random, document);
  return {
    kind: 'graph',
    isValidHttp: !wantsEvents,
    parts: [writeRequest({ path: '/graphql', headers }, body)],
  };
}

/** Returns the payload of an HTTP request or of a socket message. */
export function graphPayload(random: Random, { query, variables }: GraphDocument): Record<string, unknown> {
  const queryText = random.chance(0.04) ? mutateBytes(random, query) : query;
  return {
    query: queryText,
    ...(random.chance(0.97) ? { variables } : { variables: oddValue(random) }),
    ...(random.chance(0.01) && { operationName: oddValue(random) }),
    ...(random.chance(0.01) && { extensions: oddValue(random) }),
  };
}

function graphBody(random: Random, document: GraphDocument): string {
  const text = toBytes(JSON.stringify(graphPayload(random, document)));
  return random.chance(0.03) ? mutateBytes(random, text) : text;
}

/** Placeholders such as $AT$ stay unencoded; they contain only letters. */
function writeParameters(random: Random, { query, variables }: GraphDocument): string {
  const encoded = (text: string) => encodeURIComponent(text.toWellFormed()).replaceAll('%24', '$');
  const parameters = `query=${encoded(query)}&variables=${encoded(JSON.stringify(variables))}`;
  return random.chance(0.1) ? mutateBytes(random, parameters).replaceAll(/[^!-~]/g, '+') : parameters;
}
