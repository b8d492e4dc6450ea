/** What commands show of a user. */

import { facts } from '../facts.ts';
import { shown, table } from '../output.ts';
import { toMinute } from '../shown-time.ts';

export interface UserDetails {
  readonly id: string;
  readonly username: string;
  readonly isAdministrator: boolean;
  readonly isDisabled: boolean;
  readonly createdAt: string;
  readonly lastLoginAt: string | null;
  readonly groups: readonly { readonly name: string }[];
}

export const userFields = 'id username isAdministrator isDisabled createdAt lastLoginAt groups { name }';

export function userTable(users: readonly UserDetails[]): string {
  const rows = users.map((user) => [
    shown(user.username),
    user.isAdministrator ? 'administrator' : '',
    user.isDisabled ? 'disabled' : 'enabled',
    toMinute(user.lastLoginAt),
    groupsOf(user),
  ]);
  return table(['Name', 'Role', 'State', 'Last login (UTC)', 'Groups'], rows, 'No users found.');
}

export function userFacts(user: UserDetails): string {
  return facts([
    ['Name', shown(user.username)],
    ['Id', user.id],
    ['Role', user.isAdministrator ? 'administrator' : 'user'],
    ['State', user.isDisabled ? 'disabled' : 'enabled'],
    ['Created', `${toMinute(user.createdAt)} UTC`],
    ['Last login', user.lastLoginAt === null ? 'never' : `${toMinute(user.lastLoginAt)} UTC`],
    ['Groups', groupsOf(user)],
  ]);
}

function groupsOf({ groups }: UserDetails): string {
  return groups.map(({ name }) => shown(name)).join(', ');
}
