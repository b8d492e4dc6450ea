/**
 * Resolves references that users type: a user or a group by name, a folder by path, or any object by `id:` and its id. An object
 * that the user may not see is not found.
 */

import { failure, isClientError } from '../failures.ts';
import { UsageError } from '../../config/start-error.ts';
import type { Word } from '../command.ts';
import type { Connection } from './connection.ts';
import { escapeControls } from '../terminal/output.ts';

/** The part of a connection that queries need. */
export type ApiConnection = Pick<Connection, 'client' | 'signal'>;

export interface NamedUser {
  readonly id: string;
  readonly username: string;
}

export interface NamedGroup {
  readonly id: string;
  readonly name: string;
}

export interface NamedFolder {
  readonly id: string;
  readonly path: string;
}

export const userWord = { name: 'user', about: 'The name of a user, or id:<id>' } as const satisfies Word;
export const groupWord = { name: 'group', about: 'The name of a group, or id:<id>' } as const satisfies Word;
export const folderWord = {
  name: 'path',
  about: 'The path of a folder from the root, for example "/Places/Floor 2", or id:<id>',
} as const satisfies Word;

const idPrefix = 'id:';
/** The number of names in one query. */
const maxPerRequest = 50;

/** The id in an `id:…` reference, without a lookup: callers that accept deleted objects use it directly. */
export function idIn(reference: string): string | undefined {
  return reference.startsWith(idPrefix) ? reference.slice(idPrefix.length) : undefined;
}

/** Returns undefined without a reference. */
export async function idOf(
  connection: ApiConnection,
  reference: string | undefined,
  find: (connection: ApiConnection, reference: string) => Promise<{ readonly id: string }>,
): Promise<string | undefined> {
  if (reference === undefined) return undefined;
  return idIn(reference) ?? (await find(connection, reference)).id;
}

/** An unset shell variable results in an empty path, which must not mean the root. */
export function requirePath(path: string): void {
  if (path === '') throw new UsageError('The path is empty. For the root, use /.');
}

export async function findUser(connection: ApiConnection, reference: string): Promise<NamedUser> {
  const [found] = await findUsers(connection, [reference]);
  return found;
}

/** Returns each user once, in the order of the references. Requires at least one reference. */
export async function findUsers(
  connection: ApiConnection,
  references: readonly string[],
): Promise<readonly [NamedUser, ...NamedUser[]]> {
  const found = new Map<string, NamedUser>();
  for (let start = 0; start < references.length; start += maxPerRequest) {
    const batch = references.slice(start, start + maxPerRequest);
    const users = await queryByReference<NamedUser>(connection, batch, 'user', 'username', 'id username');
    for (const user of users) found.set(user.id, user);
  }
  return [...found.values()] as [NamedUser, ...NamedUser[]];
}

export async function findGroup(connection: ApiConnection, reference: string): Promise<NamedGroup> {
  const [found] = await queryByReference<NamedGroup>(connection, [reference], 'group', 'name', 'id name');
  return found!;
}

export async function findFolderReference(
  connection: ApiConnection,
  reference: string,
): Promise<NamedFolder> {
  requirePath(reference);
  const input = idHint('folder', reference) ? reference.replace(/^\/?/, '/') : reference;
  const [found] = await queryByReference<NamedFolder>(connection, [input], 'folder', 'path', 'id path');
  return found!;
}

/** Runs one mutation and returns its payload. */
export async function mutate<Payload>(
  { client, signal }: ApiConnection,
  name: string,
  input: object,
  fields: string,
): Promise<Payload> {
  const type = `${name[0]!.toUpperCase()}${name.slice(1)}Input!`;
  const mutation = `mutation ($input: ${type}) { ${name}(input: $input) { ${fields} } }`;
  return (await client.mutate<Readonly<Record<string, Payload>>>(mutation, { input }, { signal }))[name]!;
}

async function queryByReference<Found>(
  { client, signal }: ApiConnection,
  references: readonly string[],
  kind: 'user' | 'group' | 'folder',
  argument: string,
  fields: string,
): Promise<readonly Found[]> {
  const lookups = references.map((reference, index) => {
    const id = idIn(reference);
    return {
      reference,
      variable: `v${index}`,
      value: id ?? reference,
      argument: id === undefined ? argument : 'id',
      type: id === undefined ? 'String' : 'ID',
    };
  });
  const variables = Object.fromEntries(lookups.map(({ variable, value }) => [variable, value]));
  const query = `query (${lookups.map(({ variable, type }) => `$${variable}: ${type}`).join(', ')}) {
    ${lookups.map((each) => `${each.variable}: ${kind}(${each.argument}: $${each.variable}) { ${fields} }`).join('\n    ')}
  }`;
  type Result = Readonly<Record<string, Found | null>>;
  const found = await client.query<Result>(query, variables, { signal });
  const missing = lookups.find(({ variable }) => !found[variable]);
  if (missing) {
    const isAdministrator = await hasAdministratorRights({ client, signal });
    throw failure('NOT_FOUND', notFound(kind, missing.reference, isAdministrator));
  }
  return lookups.map(({ variable }) => found[variable]!);
}

async function hasAdministratorRights({ client, signal }: ApiConnection): Promise<boolean> {
  type Role = { readonly isAdministrator: boolean };
  type Answer = { readonly viewer: { readonly user: Role; readonly apiKey: Role | null } };
  const query = '{ viewer { user { isAdministrator } apiKey { isAdministrator } } }';
  try {
    const { viewer } = await client.query<Answer>(query, {}, { signal });
    return (viewer.apiKey ?? viewer.user).isAdministrator;
  } catch (error) {
    // An API key for one folder may not read the properties of its user.
    if (isClientError(error, 'FORBIDDEN')) return false;
    throw error;
  }
}

/** Returns a hint for a name that looks like an id. */
export function idHint(kind: 'user' | 'group' | 'folder', reference: string): string {
  const [, id] = /^\/?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i.exec(reference) ?? [];
  return id === undefined ? '' : ` To name a ${kind} by its id, use id:${id}.`;
}

/** Mentions missing rights, because the user would otherwise look for a mistake in the name. */
function notFound(kind: 'user' | 'group' | 'folder', reference: string, isAdministrator: boolean): string {
  const name = `${kind} ${escapeControls(reference)}`;
  const hint = idHint(kind, reference);
  if (isAdministrator || hint) return `There is no ${name}.${hint}`;
  if (kind === 'folder') return `There is no ${name}, or you do not have access to it.`;
  return `There is no ${name}, or you may not see it. Only administrators and users who manage a folder can see other users and groups.`;
}
