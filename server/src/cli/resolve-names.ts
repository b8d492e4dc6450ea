/**
 * Resolves references that users type: a user or a group by name, a folder by path, or any object by `id:` and its id. An object
 * that the user may not see is not found.
 */

import { EspalierError } from '@espalier/client';
import type { Word } from './command.ts';
import type { Connection } from './connection.ts';
import { escapeControls } from './output.ts';

export type Asking = Pick<Connection, 'client' | 'signal'>;

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
  about: 'The path of a folder from the root on, as in /Places/Floor 2, or id:<id>',
} as const satisfies Word;

const idPrefix = 'id:';
/** So many names go into one query. */
const maxPerRequest = 50;

/** The id of an `id:` reference. It is not looked up, because deleted objects have ids as well. */
export function idIn(reference: string): string | undefined {
  return reference.startsWith(idPrefix) ? reference.slice(idPrefix.length) : undefined;
}

export async function findUser(asking: Asking, reference: string): Promise<NamedUser> {
  const [found] = await findUsers(asking, [reference]);
  return found;
}

/** Each once, in the order in which they were named. */
export async function findUsers(
  asking: Asking,
  references: readonly string[],
): Promise<readonly [NamedUser, ...NamedUser[]]> {
  const found = new Map<string, NamedUser>();
  for (let start = 0; start < references.length; start += maxPerRequest) {
    const some = references.slice(start, start + maxPerRequest);
    const users = await lookUp<NamedUser>(asking, some, 'user', 'username', 'id username');
    for (const user of users) found.set(user.id, user);
  }
  return [...found.values()] as [NamedUser, ...NamedUser[]];
}

export async function findGroup(asking: Asking, reference: string): Promise<NamedGroup> {
  const [found] = await lookUp<NamedGroup>(asking, [reference], 'group', 'name', 'id name');
  return found!;
}

export async function findFolder(asking: Asking, reference: string): Promise<NamedFolder> {
  const [found] = await lookUp<NamedFolder>(asking, [reference], 'folder', 'path', 'id path');
  return found!;
}

type Answer<Found> = Readonly<Record<string, Found | null>> & {
  readonly viewer: { readonly user: { readonly isAdministrator: boolean } };
};

async function lookUp<Found>(
  { client, signal }: Asking,
  references: readonly string[],
  kind: 'user' | 'group' | 'folder',
  argument: string,
  fields: string,
): Promise<readonly Found[]> {
  const asked = references.map((reference, place) => {
    const id = idIn(reference);
    return {
      reference,
      variable: `v${place}`,
      value: id ?? reference,
      argument: id === undefined ? argument : 'id',
      type: id === undefined ? 'String' : 'ID',
    };
  });
  const variables = Object.fromEntries(asked.map(({ variable, value }) => [variable, value]));
  const query = `query (${asked.map(({ variable, type }) => `$${variable}: ${type}`).join(', ')}) {
    ${asked.map((each) => `${each.variable}: ${kind}(${each.argument}: $${each.variable}) { ${fields} }`).join('\n    ')}
    viewer { user { isAdministrator } }
  }`;
  const { viewer, ...found } = await client.query<Answer<Found>>(query, variables, { signal });
  return asked.map(({ reference, variable }) => {
    const each = found[variable];
    if (each) return each;
    throw new EspalierError('NOT_FOUND', notFound(kind, reference, viewer.user.isAdministrator));
  });
}

/** Others see no more of people than themselves, and would look for a mistake in the name. */
function notFound(kind: 'user' | 'group' | 'folder', reference: string, isAdministrator: boolean): string {
  const name = `${kind} ${escapeControls(reference)}`;
  if (isAdministrator) return `There is no ${name}.`;
  if (kind === 'folder') return `There is no ${name} that you may see.`;
  return `There is no ${name} that you may see: only administrators and whoever manages a folder see others.`;
}
