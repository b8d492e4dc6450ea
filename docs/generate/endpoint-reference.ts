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

export function createEndpointReference(
  allEndpoints: Readonly<Record<string, Endpoint>> = endpoints,
  allBodies: Bodies = bodies,
): string {
  return `<!-- Made by npm run generate. -->

# Endpoints

All paths are relative to the API root that the server prints when it starts. Bodies are JSON in UTF-8, unless it says
otherwise; send \`Content-Type: application/json\`. A byte-order mark at the start is skipped. Unknown fields are ignored. The same tables are served as an OpenAPI 3.1 document at
\`GET /openapi.json\`. Doubled slashes in a path are folded. The base path (\`ESPALIER_BASE_PATH\`) matches in any letter case, for example \`/Api\` for \`/api\`; all other paths match exactly.

An auth token (AT) is sent as \`Authorization: Bearer <AT>\`: the word \`Bearer\` in any case, one space, the token.

What a code means, and what to do about it, is on the page [Errors](errors.md).

${Object.values(allEndpoints).map(formatEndpoint).join('\n')}
## Bodies

${Object.entries(allBodies)
  .map(([name, schema]) => formatBody(name, schema))
  .join('\n')}
`;
}

function formatEndpoint(endpoint: Endpoint): string {
  const { methods, path, description, authHeader, request, headers = {}, success } = endpoint;
  const headerLines = Object.entries(headers).map(
    ([name, { description: about }]) => `\n- Optional header of a POST, \`${name}\`: ${about}`,
  );
  const rows = listRefusals(endpoint).map(([code, { status, when }]) => [
    String(status),
    `\`${formatCode(endpoint, code)}\``,
    when,
  ]);
  return `## ${methods.toReversed().join(' or ')} ${path}

${description}

- ${authHeader === 'client' ? 'Name and password of a client in the header: required (HTTP Basic)' : `Auth token in the header: ${authHeader}`}
- Request body: ${request ? formatRequestBody(request) : 'none'}${headerLines.join('')}
- Success: ${success.status}, ${success.body ? `\`${success.body}\`` : 'no body'}${endpoint.reportsExpiry ? '\n- An expired auth token is told by the header `token-expired: true` on the 401' : ''}

${rows.length > 0 ? formatTable(['Status', 'Code', 'When'], rows) : ''}
`;
}

function formatRequestBody({
  body,
  isRequired,
  limitBytes,
  isForm,
}: NonNullable<Endpoint['request']>): string {
  return `\`${body}\`${isForm ? ' as a form' : ''}${isRequired ? '' : ', or empty'}, at most ${formatSize(limitBytes)}`;
}

function formatSize(bytes: number): string {
  return bytes < 2 ** 20 ? `${bytes / 2 ** 10} KiB` : `${bytes / 2 ** 20} MiB`;
}

function formatBody(name: string, { properties }: ObjectSchema): string {
  const rows = Object.entries(properties).map(([field, property]) => [
    `\`${field}\``,
    [property['type'], property['format']].flat().filter(Boolean).join(', '),
    (property['description'] as string | undefined) ?? `always \`${property['const'] as string}\``,
  ]);
  return `### ${name}\n\n${formatTable(['Field', 'Type', 'Meaning'], rows)}\n`;
}
