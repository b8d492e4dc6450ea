/** Creates the page of all endpoints and their bodies from the tables of the contract. */

import {
  bodies,
  endpoints,
  listRefusals,
  formatCode,
  type BodyName,
  type Endpoint,
  type ObjectSchema,
} from '@espalier/contract';
import { formatTable } from './markdown.ts';

export type Bodies = Readonly<Record<BodyName, ObjectSchema>>;

const login = `\`\`\`sh
curl http://127.0.0.1:8080/login --json '{"username": "admin", "password": "correct horse battery"}'
\`\`\`

\`\`\`json
{ "authToken": "eyJhbGciOi…", "expires_in": 600, "refreshToken": "7f0c8d5e-…" }
\`\`\``;

/** A request, and its response if it has a body. `$AT` and `$RT` are the tokens of the login. */
const examples: Readonly<Record<string, string>> = {
  login,
  refresh: `\`\`\`sh
curl http://127.0.0.1:8080/login/refresh --header "Authorization: Bearer $AT" --json "{\\"refreshToken\\": \\"$RT\\"}"
\`\`\`

The response has the same format as the response of \`/login\`.`,
  logout: `\`\`\`sh
curl --request POST http://127.0.0.1:8080/logout --header "Authorization: Bearer $AT"
\`\`\``,
  verify: `\`\`\`sh
curl http://127.0.0.1:8080/login/verify --json "{\\"authToken\\": \\"$AT\\"}"
\`\`\``,
  graph: `\`\`\`sh
curl http://127.0.0.1:8080/graphql --header "Authorization: Bearer $AT" --json '{"query": "{ folder { name folders { edges { node { name } } } } }"}'
\`\`\`

\`\`\`json
{ "data": { "folder": { "name": "Root", "folders": { "edges": [{ "node": { "name": "Places" } }] } } } }
\`\`\``,
  keySet: `\`\`\`sh
curl http://127.0.0.1:8080/.well-known/jwks.json
\`\`\`

\`\`\`json
{ "keys": [{ "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig", "kid": "…", "x": "…" }] }
\`\`\``,
  serverMetadata: `\`\`\`sh
curl https://tree.example/.well-known/oauth-authorization-server
\`\`\`

\`\`\`json
{ "issuer": "https://tree.example", "jwks_uri": "https://tree.example/.well-known/jwks.json", "response_types_supported": [], "grant_types_supported": [] }
\`\`\``,
  introspect: `\`\`\`sh
curl http://127.0.0.1:8080/introspect --user "$CLIENT" --data "token=$AT"
\`\`\`

\`\`\`json
{ "active": true, "token_type": "Bearer", "iss": "…", "sub": "…", "aud": "…", "client_id": "espalier", "sid": "…", "exp": 1769860800 }
\`\`\``,
  readyz: `\`\`\`sh
curl http://127.0.0.1:8080/readyz?verbose
\`\`\`

\`\`\`json
{ "status": "ready", "checks": { "database": "ok", "migrations": "ok", "writes": "ok", "signing key": "ok", "notifications": "ok", "disk": "ok" } }
\`\`\``,
};

export function createEndpointReference(
  allEndpoints: Readonly<Record<string, Endpoint>> = endpoints,
  allBodies: Bodies = bodies,
): string {
  return `<!-- Made by npm run generate. -->

# Endpoints

Look up each HTTP endpoint: its request, its response and its errors. The [schema](schema.md) describes the queries and mutations of \`/graphql\`, and
[Errors](errors.md) describes the error codes. The server returns this reference as an OpenAPI 3.1 document at \`GET /openapi.json\`.

- Paths are relative to the address that the server prints when it starts, for example \`http://127.0.0.1:8080\`. Two slashes in a row count as one.
- With \`ESPALIER_BASE_PATH=/tree\`, the login is at \`/tree/login\`. The server accepts the base path in any letter case, for example \`/Tree\`, but the rest of
  the path only as written here.
- Send bodies as JSON in UTF-8 with \`Content-Type: application/json\`, except for \`/introspect\` and \`/login/sso/logout\`. The server skips a byte-order mark, and ignores unknown fields.
- Send an auth token as \`Authorization: Bearer <auth token>\`: the word \`Bearer\` in any case, one space, and the token.

In the examples, \`$AT\` is your auth token and \`$RT\` is your refresh token. \`$CLIENT\` is the value of \`ESPALIER_INTROSPECTION_CLIENT\`.

${Object.entries(allEndpoints)
  .map(([name, endpoint]) => formatEndpoint(endpoint, examples[name]))
  .join('\n')}
## Bodies

${Object.entries(allBodies)
  .map(([name, schema]) => formatBody(name, schema))
  .join('\n')}
`;
}

function formatEndpoint(endpoint: Endpoint, example: string | undefined): string {
  const {
    methods,
    path,
    description,
    authHeader,
    request,
    parameters = {},
    headers = {},
    success,
    redirect,
  } = endpoint;
  const headerLines = Object.entries(headers).map(
    ([name, { description: about }]) => `\n- Optional header \`${name}\` of a POST: ${about}`,
  );
  const parameterLines = Object.entries(parameters).map(
    ([name, { isRequired, description: about }]) =>
      `\n- ${isRequired ? 'Required' : 'Optional'} parameter \`${name}\` of a GET: ${about}`,
  );
  const rows = listRefusals(endpoint).map(([code, { status, when }]) => [
    String(status),
    `\`${formatCode(endpoint, code)}\``,
    when,
  ]);
  return `## ${methods.toReversed().join(' or ')} ${path}

${description}

- ${authHeader === 'client' ? 'Name and password of the client (HTTP Basic): required' : `Auth token: ${authHeader === 'none' ? 'not used' : authHeader}`}
- Request body: ${request ? formatRequestBody(request) : 'none'}${parameterLines.join('')}${headerLines.join('')}
- Success: ${success.status}, ${formatSuccessBody(success)}${redirect ? `\n- Success of a GET: 302. ${redirect}` : ''}${endpoint.reportsExpiry ? '\n- Expired auth token: 401 with the header `token-expired: true`' : ''}
${example ? `\nFor example:\n\n${example}\n` : ''}
${rows.length > 0 ? formatTable(['Status', 'Code', 'When'], rows) : ''}
`;
}

function formatSuccessBody({ body, isPage }: Endpoint['success']): string {
  if (body) return formatBodyLink(body);
  return isPage ? 'a page (HTML)' : 'no body';
}

function formatBodyLink(body: BodyName): string {
  return `[\`${body}\`](#${body.toLowerCase()})`;
}

function formatRequestBody({
  body,
  isRequired,
  limitBytes,
  isForm,
}: NonNullable<Endpoint['request']>): string {
  return `${formatBodyLink(body)}${isForm ? ' as a form' : ''}${isRequired ? '' : ', or empty'}, at most ${formatSize(limitBytes)}`;
}

function formatSize(bytes: number): string {
  return bytes < 2 ** 20 ? `${bytes / 2 ** 10} KiB` : `${bytes / 2 ** 20} MiB`;
}

function formatBody(name: string, { properties }: ObjectSchema): string {
  const rows = Object.entries(properties).map(([field, property]) => [
    `\`${field}\``,
    [property['type'], property['format']].flat().filter(Boolean).join(', '),
    (property['description'] as string | undefined) ?? `Always \`${property['const'] as string}\`.`,
  ]);
  return `### ${name}\n\n${formatTable(['Field', 'Type', 'Meaning'], rows)}\n`;
}
