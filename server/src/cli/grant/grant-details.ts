/** Reads and displays grants, and the user or group of a grant. */

import { EspalierError } from '@espalier/client';
import { UsageError } from '../../config/start-error.ts';
import type { Option } from '../command.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { pageInfo, type Page, type ReadPage } from '../api/pages.ts';
import {
  findGroup,
  findUser,
  type ApiConnection,
  type NamedGroup,
  type NamedUser,
} from '../api/resolve-names.ts';

export interface GrantDetails {
  readonly level: string;
  readonly grantedAt: string;
  readonly folder: { readonly id: string; readonly path: string };
  readonly user: NamedUser | null;
  readonly group: NamedGroup | null;
}

export const grantFields = 'level grantedAt folder { id path } user { id username } group { id name }';

const query = `query ($id: ID!, $inherited: Boolean!, $first: Int, $after: String) {
  folder(id: $id) { access(inherited: $inherited, first: $first, after: $after) {
    items { ${grantFields} } ${pageInfo}
  } }
}`;

/** The grants on a folder, and on those above it if they are inherited. */
export function grantReader(
  { client, signal }: ApiConnection,
  folder: { readonly id: string; readonly path: string },
  inherited: boolean,
): ReadPage<GrantDetails> {
  type Answer = { readonly folder: { readonly access: Page<GrantDetails> } | null };
  return async (slice) => {
    const answer = await client.query<Answer>(query, { id: folder.id, inherited, ...slice }, { signal });
    if (!answer.folder)
      throw new EspalierError('NOT_FOUND', `The folder ${escapeControls(folder.path)} no longer exists.`);
    return answer.folder.access;
  };
}

export const subjectOptions = {
  user: { value: 'name', about: 'The user, by name or id:<id>' },
  group: { value: 'name', about: 'The group, by name or id:<id>; use either --user or --group' },
} as const satisfies Record<string, Option>;

/** A user or a group, for the input of a mutation and for people. */
export interface Subject {
  readonly input: { readonly userId: string } | { readonly groupId: string };
  readonly name: string;
}

export interface SubjectInput {
  readonly user: string | undefined;
  readonly group: string | undefined;
}

export function requireOneSubject({ user, group }: SubjectInput): void {
  if ((user === undefined) === (group === undefined)) {
    throw new UsageError('Use either --user <name> or --group <name>.');
  }
}

export async function findSubject(
  connection: ApiConnection,
  { user, group }: SubjectInput,
): Promise<Subject> {
  if (user !== undefined) {
    const { id, username } = await findUser(connection, user);
    return { input: { userId: id }, name: escapeControls(username) };
  }
  const { id, name } = await findGroup(connection, group!);
  return { input: { groupId: id }, name: `the group ${escapeControls(name)}` };
}

export function subjectOf({ user, group }: Pick<GrantDetails, 'user' | 'group'>): string {
  if (user) return escapeControls(user.username);
  return group ? `group ${escapeControls(group.name)}` : '';
}
