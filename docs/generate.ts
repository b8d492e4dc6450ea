/**
 * Writes the pages that are made from the code: settings, commands, endpoints and the graph schema. With --check it only
 * compares, and fails if a page is not what the code says.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { printSchema } from 'graphql';
import { format } from 'prettier';
import {
  bodies,
  closeCodes,
  endpoints,
  graphCodes,
  refusals,
  refusalsOf,
  shownCode,
  type BodyName,
  type Endpoint,
  type ObjectSchema,
} from '@espalier/contract';
import { environmentName, flagsOf, settingGroups } from '../server/src/config.ts';
import { createSchema } from '../server/src/graph/schema.ts';
import { commandReference } from './command-reference.ts';

const pages: Readonly<Record<string, () => string | Promise<string>>> = {
  'docs/configuration.md': configuration,
  'docs/cli.md': commandReference,
  'docs/endpoints.md': endpointReference,
  'contract/schema.graphql': () => `${printSchema(createSchema())}\n`,
};

const isCheck = process.argv.includes('--check');
for (const [path, write] of Object.entries(pages)) {
  const file = new URL(`../${path}`, import.meta.url);
  const written = await write();
  const text = path.endsWith('.md') ? await format(written, { parser: 'markdown' }) : written;
  if (!isCheck) {
    writeFileSync(file, text);
  } else if (!existsSync(file) || readFileSync(file, 'utf8') !== text) {
    console.error(`${path} is not what the code says. Run: npm run generate`);
    process.exitCode = 1;
  }
}

function configuration(): string {
  const groups = Object.entries(settingGroups).map(([title, settings]) => {
    const rows = Object.values(settings).map((setting) => [
      `\`${environmentName(setting)}\`${setting.mayBeFile ? ` or \`${environmentName(setting)}_FILE\`` : ''}`,
      flagsOf(setting)
        .map((flag) => `\`--${flag}\``)
        .join(' or '),
      setting.default ? `\`${setting.default}\`` : 'none',
      `${setting.about} Takes ${setting.accepts}.`,
    ]);
    return `## ${title}\n\n${table(['Variable', 'Flag', 'Default', 'What it does'], rows)}`;
  });
  return `<!-- Made by npm run generate. -->

# Configuration

Every setting is an environment variable and a flag of \`espalier serve\`; a flag wins. An empty variable counts as not
set. A value that cannot be used stops the start and says what would be accepted; an unknown \`ESPALIER_…\` variable is
warned of. A secret is never a flag, because others could see it in the process list: give the path of a file instead.

${groups.join('\n\n')}
`;
}

function endpointReference(): string {
  return `<!-- Made by npm run generate. -->

# Endpoints

All paths are relative to the API root that the server prints when it starts. Bodies are JSON in UTF-8, unless it says
otherwise; send \`Content-Type: application/json\`. Unknown fields are ignored. The same tables are served as an OpenAPI 3.1 document at
\`GET /openapi.json\`. Doubled slashes in a path are folded.

An auth token (AT) is sent as \`Authorization: Bearer <AT>\`: the word \`Bearer\` in any case, one space, the token.

${Object.values<Endpoint>(endpoints).map(endpointSection).join('\n')}
## Bodies

${Object.keys(bodies)
  .map((name) => bodySection(name as BodyName))
  .join('\n')}
## Close codes of sockets

For WebSockets at \`/graphql\` and \`/graphql/ws\`; [Live](live.md) shows what is sent over them.

${table(
  ['Code', 'Reason', 'When'],
  Object.values(closeCodes).map(({ code, reason, when }) => [String(code), reason && `\`${reason}\``, when]),
)}

## Refusal codes

All endpoints but \`/graphql\` refuse with \`application/problem+json\` (RFC 9457); \`code\` is one of these. A body never holds
a password, a token or a stack.

${table(['Code', 'Meaning'], codeRows(refusals))}

\`/graphql\` refuses with GraphQL errors; \`extensions.code\` is one of these.

${table(['Code', 'Meaning'], codeRows(graphCodes))}
`;
}

function endpointSection(endpoint: Endpoint): string {
  const { methods, path, description, authHeader, request, headers = {}, success } = endpoint;
  const headerLines = Object.entries(headers).map(
    ([name, { description: about }]) => `\n- Optional header of a POST, \`${name}\`: ${about}`,
  );
  const rows = refusalsOf(endpoint).map(([code, { status, when }]) => [
    String(status),
    `\`${shownCode(endpoint, code)}\``,
    when,
  ]);
  return `## ${methods.toReversed().join(' or ')} ${path}

${description}

- ${authHeader === 'client' ? 'Name and password of a client in the header: required (HTTP Basic)' : `Auth token in the header: ${authHeader}`}
- Request body: ${request ? requestBody(request) : 'none'}${headerLines.join('')}
- Success: ${success.status}, ${success.body ? `\`${success.body}\`` : 'no body'}${endpoint.tellsExpiry ? '\n- An expired auth token is told by the header `token-expired: true` on the 401' : ''}

${rows.length > 0 ? table(['Status', 'Code', 'When'], rows) : ''}
`;
}

function requestBody({ body, isRequired, limitBytes, isForm }: NonNullable<Endpoint['request']>): string {
  return `\`${body}\`${isForm ? ' as a form' : ''}${isRequired ? '' : ', or empty'}, at most ${size(limitBytes)}`;
}

function size(bytes: number): string {
  return bytes < 2 ** 20 ? `${bytes / 2 ** 10} KiB` : `${bytes / 2 ** 20} MiB`;
}

function bodySection(name: BodyName): string {
  const { properties }: ObjectSchema = bodies[name];
  const rows = Object.entries(properties).map(([field, property]) => [
    `\`${field}\``,
    [property['type'], property['format']].flat().filter(Boolean).join(', '),
    (property['description'] as string | undefined) ?? `always \`${property['const'] as string}\``,
  ]);
  return `### ${name}\n\n${table(['Field', 'Type', 'Meaning'], rows)}\n`;
}

function codeRows(codes: Readonly<Record<string, string>>): string[][] {
  return Object.entries(codes).map(([code, meaning]) => [`\`${code}\``, meaning]);
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
