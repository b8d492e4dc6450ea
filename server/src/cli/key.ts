/** `espalier key`: the API keys of programs. */

import { systemClock } from '../clock.ts';
import { UsageError, invalidValue } from '../config/start-error.ts';
import {
  apiKeyFields,
  describeApiKey,
  describeExpiry,
  describeRights,
  type ApiKeyDetails,
} from './api/api-key-fields.ts';
import { apiCommand } from './api/connection.ts';
import { parseInstant } from './api/flag-values.ts';
import { everyItem, listReader, pageInfo, type ReadPage } from './api/pages.ts';
import { findFolderReference, findUser, idOf, mutate, type ApiConnection } from './api/resolve-names.ts';
import { revokeEach } from './api/revoke-each.ts';
import type { Group, Options, Values } from './command.ts';
import { ExitError, failure } from './failures.ts';
import { escaped, formatFacts, formatTable, print, printJson, toMinute } from './terminal/output.ts';

const defaultDays = 90;
/** The server refuses a later expiry. */
const maxDays = 3_650;
const dayMs = 86_400_000;
const levels = ['read', 'write', 'manage'] as const;

const createOptions = {
  level: {
    value: 'level',
    about: 'The highest access level of the key on any folder; default: read',
    choices: levels,
  },
  folder: {
    value: 'path',
    about:
      'The only folder that the key can read, with its contents (path or id:<id>); default: every folder',
  },
  user: {
    value: 'name',
    about: 'The service account of the key (name or id:<id>); for administrators; default: yourself',
  },
  administrator: {
    about: 'Let the key act as administrator, with access to everything',
    conflicts: ['level', 'folder'],
  },
  expires: {
    value: 'time',
    about: `When the key expires: a number of days such as 30d, a date such as 2027-01-31, or an RFC 3339 time; default: ${defaultDays}d`,
  },
  neverExpires: { about: 'Create a key that never expires', conflicts: ['expires'] },
  network: {
    value: 'cidr',
    about: 'Accept the key only from this IP address or range, for example 10.0.0.0/8',
    isRepeatable: true,
  },
} as const satisfies Options;

const create = apiCommand({
  about: 'Create an API key and print it once',
  aliases: ['add'],
  words: [{ name: 'name', about: 'A name to recognize the key, for example the name of the program' }],
  options: createOptions,
  details: `Prints only the key to standard output, and a description to standard error. The server stores no copy, so you cannot read the
key again. With --json, prints the key and its properties.

A key has at most the rights of its user: your own, or those of the service account in --user. --level, --folder and --network
limit the key further. The key of an administrator has administrator rights only with --administrator.

By default, a key expires after ${defaultDays} days, so that a forgotten key does not stay valid forever. To replace a key without
an interruption, create the next one, change the program, and then revoke the first one.`,
  examples: [
    'espalier key create backup --level read --folder /Places',
    'KEY=$(espalier key create deploy --user robot --level write --expires 30d)',
    'espalier key create sync --user robot --level manage --network 10.0.0.0/8 --network 2001:db8::/32',
  ],
  validate: ({ options }) => void readExpiry(options, systemClock.now()),
  async run(connection, { words: [name], options }) {
    const input = {
      name,
      userId: options.user === undefined ? undefined : (await findUser(connection, options.user)).id,
      level: options.administrator ? 'MANAGE' : (options.level ?? 'read').toUpperCase(),
      isAdministrator: options.administrator,
      folderId:
        options.folder === undefined ? undefined : (await findFolderReference(connection, options.folder)).id,
      expiresAt: readExpiry(options, systemClock.now()),
      networks: options.network,
    };
    type Payload = { key: string | null; apiKey: ApiKeyDetails };
    const fields = `key apiKey { ${apiKeyFields} }`;
    const { key, apiKey } = await mutate<Payload>(connection, 'createApiKey', input, fields);
    if (key === null) throw lostKeyError(apiKey.id);
    if (options.json) return printJson({ key, ...apiKey });
    console.error(
      escaped`Created for ${apiKey.user.username}: ${describeApiKey(apiKey)} Its id is ${apiKey.id}.
Save the key now, because you cannot read it again.`,
    );
    return print(key);
  },
});

/** The client repeats a request after a lost response. The server returns the text of a key only once. */
function lostKeyError(id: string): ExitError {
  return failure(
    'UNREACHABLE',
    `The server created a key, but the response with the key was lost. Run 'espalier key revoke ${id}', and create another key.`,
  );
}

/** Returns null for a key that never expires. */
function readExpiry(
  { expires, neverExpires }: Pick<Values<typeof createOptions>, 'expires' | 'neverExpires'>,
  now: number,
): string | null {
  if (neverExpires) return null;
  if (expires === undefined) return new Date(now + defaultDays * dayMs).toISOString();
  const [, days] = /^(\d{1,4})d$/.exec(expires) ?? [];
  const at = days === undefined ? parseInstant(expires) : now + Number(days) * dayMs;
  if (at !== undefined && at > now && at <= now + maxDays * dayMs) return new Date(at).toISOString();
  throw invalidValue(
    '--expires',
    `a number of days such as 30d, or a later time such as 2027-01-31, at most ${maxDays}d`,
    expires,
  );
}

const list = apiCommand({
  about: 'List API keys',
  aliases: ['ls'],
  options: {
    user: { value: 'name', about: 'List the keys of this user (name or id:<id>); for administrators' },
    all: { about: 'List the keys of all users; for administrators', conflicts: ['user'] },
  },
  details: `Lists your own keys, the newest first, with those that expired or were revoked in the last 90 days. The column "Key" contains
the first characters of a key, which are not secret. For example, use them to find the key in a configuration file.`,
  examples: ['espalier key list', 'espalier key list --user robot', 'espalier key list --all --json'],
  async run(connection, { options: { user, all } }) {
    const userId = all
      ? undefined
      : ((await idOf(connection, user, findUser)) ?? (await readOwnId(connection)));
    const keys = await everyItem(readKeys(connection, userId));
    return { data: keys, text: () => formatList(keys) };
  },
});

/** Without a user id, reads the keys of all users. */
function readKeys(connection: ApiConnection, userId: string | undefined): ReadPage<ApiKeyDetails> {
  const query = `query ($userId: ID, $first: Int, $after: String) {
    list: apiKeys(userId: $userId, first: $first, after: $after) { items { ${apiKeyFields} } ${pageInfo} }
  }`;
  return listReader(connection, query, { userId });
}

async function readOwnId({ client, signal }: ApiConnection): Promise<string> {
  type Answer = { viewer: { user: { id: string } } };
  return (await client.query<Answer>('{ viewer { user { id } } }', {}, { signal })).viewer.user.id;
}

function formatList(keys: readonly ApiKeyDetails[]): string {
  const rows = keys.map((key) => [
    key.id,
    `${key.start}…`,
    key.name,
    key.user.username,
    describeRights(key),
    key.state.toLowerCase(),
    toMinute(key.expiresAt),
    toMinute(key.lastUsedAt),
  ]);
  const headings = ['Id', 'Key', 'Name', 'User', 'Rights', 'State', 'Expires (UTC)', 'Last use (UTC)'];
  return formatTable(headings, rows, 'No API keys found.');
}

/** Keys have no unique names. A message about an unknown id would repeat a key that is mistaken for its id. */
function requireIds({ words }: { readonly words: readonly string[] }): void {
  if (words.some((word) => word.startsWith('esp_'))) {
    throw new UsageError("This is an API key. Use its id, which 'espalier key list' prints.");
  }
  const name = words.find((word) => !/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(word));
  if (name !== undefined) {
    throw new UsageError(
      escaped`${JSON.stringify(name)} is not the id of an API key. 'espalier key list' prints the ids.`,
    );
  }
}

const show = apiCommand({
  about: 'Show an API key, without the key itself',
  words: [{ name: 'id', about: "The id of a key, from 'espalier key list'" }],
  details: 'Users can show their own keys, administrators all keys.',
  examples: ['espalier key show 019a1b2c-3d4e-7f50-8a6b-7c8d9e0f1a2b'],
  validate: requireIds,
  async run({ client, signal }, { words: [id] }) {
    const query = `query ($id: ID!) { apiKey(id: $id) { ${apiKeyFields} } }`;
    const { apiKey } = await client.query<{ apiKey: ApiKeyDetails | null }>(query, { id }, { signal });
    if (apiKey) return { data: apiKey, text: formatKey(apiKey) };
    throw failure('NOT_FOUND', escaped`There is no API key ${id!}, or you may not see it.`);
  },
});

function formatKey(key: ApiKeyDetails): string {
  const { lastUsedAt, lastUsedAddress, revokedAt, createdBy } = key;
  const from = lastUsedAddress === null ? '' : ` from ${lastUsedAddress}`;
  return formatFacts([
    ['Name', key.name],
    ['Id', `${key.id}${key.isCurrent ? ' (current)' : ''}`],
    ['Key', `${key.start}…`],
    ['User', key.user.username],
    ['Rights', describeRights(key)],
    ['Networks', key.networks.join(', ') || 'all'],
    ['State', revokedAt === null ? key.state.toLowerCase() : `revoked on ${toMinute(revokedAt)} UTC`],
    ['Created', `${toMinute(key.createdAt)} UTC${createdBy ? ` by ${createdBy.username}` : ''}`],
    ['Expires', describeExpiry(key)],
    ['Last use', lastUsedAt === null ? 'never' : `${toMinute(lastUsedAt)} UTC${from}`],
  ]);
}

const revoke = apiCommand({
  about: 'Revoke API keys immediately on every node, and close their WebSockets',
  aliases: ['delete', 'rm'],
  words: [{ name: 'id', about: "The id of a key, from 'espalier key list'", isRepeatable: true }],
  details: 'Users can revoke their own keys, administrators all keys. You cannot undo this.',
  examples: ['espalier key revoke 019a1b2c-3d4e-7f50-8a6b-7c8d9e0f1a2b'],
  validate: requireIds,
  async run(connection, { words, options }) {
    const ids = new Set(words);
    const count = await revokeEach(connection, 'API key', ids);
    if (options.json) await printJson({ revokedKeys: count });
    else if (count > 0) await print(`Keys revoked: ${count}.`);
    if (count < ids.size) throw new ExitError(1);
  },
});

export const key: Group = { commands: { create, list, show, revoke } };
