/** The graph's type User: of others only the name is shown, unless an administrator asks. */

import type { Access } from '../../access/access.ts';
import type { Group } from '../../accounts/groups.ts';
import type { User } from '../../accounts/users.ts';
import { whenDone } from '../../database/database.ts';
import { Refusal } from '../../refusal.ts';
import type { NamedRefOf, ObjectRefOf } from '../builder.ts';
import type { SessionNode, UserNode } from './people-level.ts';

export const restricted = 'Of others only for administrators: null otherwise, with the error FORBIDDEN.';

export function implementUser(
  UserType: NamedRefOf<UserNode>,
  types: { readonly Group: ObjectRefOf<Group>; readonly Session: ObjectRefOf<SessionNode> },
): void {
  UserType.implement({
    description: 'Somebody who can log in.',
    fields: (t) => ({
      id: t.id({ resolve: ({ user }) => user.id }),
      username: t.string({
        description: 'Unique, without regard to upper and lower case.',
        resolve: ({ user }) => user.username,
      }),
      isAdministrator: t.boolean({
        nullable: true,
        description: `Administrators may see and do everything. ${restricted}`,
        resolve: (node, _, { access }) => detailsOf(node, access).isAdministrator,
      }),
      isDisabled: t.boolean({
        nullable: true,
        description: `Whoever is disabled cannot log in, and has no sessions. ${restricted}`,
        resolve: (node, _, { access }) => detailsOf(node, access).disabledAt !== null,
      }),
      createdAt: t.field({
        type: 'DateTime',
        nullable: true,
        description: restricted,
        resolve: (node, _, { access }) => detailsOf(node, access).createdAt,
      }),
      lastLoginAt: t.field({
        type: 'DateTime',
        nullable: true,
        description: `When the user last logged in; null if never. ${restricted}`,
        resolve: (node, _, { access }) => detailsOf(node, access).lastLoginAt,
      }),
      groups: t.field({
        type: [types.Group],
        nullable: true,
        description: `The groups that the user is in, in the order of their names. ${restricted}`,
        resolve: (node, _, { access, budget }, info) => {
          const { id } = detailsOf(node, access);
          return whenDone(node.level.groupsOf(id), (groups) => budget.spend(groups, info));
        },
      }),
      sessions: t.field({
        type: [types.Session],
        nullable: true,
        description: `Where the user is logged in, the newest login first. ${restricted}`,
        resolve: (node, _, { access, budget, clock }, info) => {
          const { id } = detailsOf(node, access);
          return whenDone(node.level.sessionsOf(id, clock.now()), (all) => budget.spend(all, info));
        },
      }),
    }),
  });
}

/** Refuses whoever may see only the name. */
export function detailsOf({ user }: UserNode, access: Access): User {
  if (user.id === access.userId || access.isAdministrator) return user;
  throw new Refusal('FORBIDDEN', 'Only administrators see this of others.');
}
