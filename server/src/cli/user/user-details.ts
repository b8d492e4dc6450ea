/** Reads and displays users. */

import { facts } from '../terminal/format-fields.ts';
import { table } from '../terminal/output.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { everyItem, pageInfo, type Page } from '../api/pages.ts';
import type { ApiConnection } from '../api/resolve-names.ts';
import { toMinute } from '../terminal/format-time.ts';

export interface UserDetails {
  readonly id: string;
  readonly username: string;
  readonly isAdministrator: boolean;
  readonly isDisabled: boolean;
  readonly createdAt: string;
  readonly lastLoginAt: string | null;
  readonly groups: readonly { readonly name: string }[];
}

type GroupPage = Page<{ readonly name: string }>;

/** A user with the first page of their groups. */
export type ReadUser = Omit<UserDetails, 'groups'> & { readonly groups: GroupPage };

const groupFields = `items { name } ${pageInfo}`;
export const userFields = `id username isAdministrator isDisabled createdAt lastLoginAt groups { ${groupFields} }`;
const groupQuery = `query ($id: ID!, $first: Int, $after: String) {
  user(id: $id) { groups(first: $first, after: $after) { ${groupFields} } }
}`;

/** Reads the remaining pages of the groups. */
export async function withAllGroups(
  { client, signal }: ApiConnection,
  { groups: start, ...user }: ReadUser,
): Promise<UserDetails> {
  type Answer = { readonly user: { readonly groups: GroupPage } | null };
  const groups = await everyItem<{ readonly name: string }>(async (slice) => {
    if (slice.after === null) return start;
    const answer = await client.query<Answer>(groupQuery, { id: user.id, ...slice }, { signal });
    return answer.user?.groups ?? { items: [], pageInfo: { hasNextPage: false, endCursor: null } };
  });
  return { ...user, groups };
}

export function userTable(users: readonly UserDetails[]): string {
  const rows = users.map((user) => [
    escapeControls(user.username),
    user.isAdministrator ? 'administrator' : '',
    user.isDisabled ? 'disabled' : 'enabled',
    toMinute(user.lastLoginAt),
    groupsOf(user),
  ]);
  return table(['Name', 'Role', 'State', 'Last login (UTC)', 'Groups'], rows, 'No users found.');
}

export function userFacts(user: UserDetails): string {
  return facts([
    ['Name', escapeControls(user.username)],
    ['Id', user.id],
    ['Role', user.isAdministrator ? 'administrator' : 'user'],
    ['State', user.isDisabled ? 'disabled' : 'enabled'],
    ['Created', `${toMinute(user.createdAt)} UTC`],
    ['Last login', user.lastLoginAt === null ? 'never' : `${toMinute(user.lastLoginAt)} UTC`],
    ['Groups', groupsOf(user)],
  ]);
}

function groupsOf({ groups }: UserDetails): string {
  return groups.map(({ name }) => escapeControls(name)).join(', ');
}
