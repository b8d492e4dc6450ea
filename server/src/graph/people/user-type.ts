/** The graph's type User: of others only the name is shown, unless an administrator asks. */

import type { Access } from '../../access/access.ts';
import type { Group } from '../../accounts/groups.ts';
import type { User } from '../../accounts/users.ts';
import { Refusal } from '../../refusal.ts';
import type { NamedRefOf, ObjectRefOf } from '../builder.ts';
import { personalField } from '../shared-answers.ts';
import { pageDescriptions } from '../lists/keyset-connection-type.ts';
import { KeysetConnection } from '../lists/keyset-connection.ts';
import type { SessionNode, UserNode } from './people-level.ts';
import { groupListOf, groupPages, sessionListOf, sessionPages } from './people-lists.ts';

export const restricted = 'Of others only for administrators: null otherwise, with the error FORBIDDEN.';

export function implementUser(
  UserType: NamedRefOf<UserNode>,
  types: {
    readonly GroupConnection: ObjectRefOf<KeysetConnection<Group>>;
    readonly SessionConnection: ObjectRefOf<KeysetConnection<SessionNode>>;
  },
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
        extensions: personalField,
        nullable: true,
        description: `Administrators may see and do everything. ${restricted}`,
        resolve: (node, _, { access }) => detailsOf(node, access).isAdministrator,
      }),
      isDisabled: t.boolean({
        extensions: personalField,
        nullable: true,
        description: `Whoever is disabled cannot log in, and has no sessions. ${restricted}`,
        resolve: (node, _, { access }) => detailsOf(node, access).disabledAt !== null,
      }),
      createdAt: t.field({
        extensions: personalField,
        type: 'DateTime',
        nullable: true,
        description: restricted,
        resolve: (node, _, { access }) => detailsOf(node, access).createdAt,
      }),
      lastLoginAt: t.field({
        extensions: personalField,
        type: 'DateTime',
        nullable: true,
        description: `When the user last logged in; null if never. ${restricted}`,
        resolve: (node, _, { access }) => detailsOf(node, access).lastLoginAt,
      }),
      groups: t.field({
        extensions: personalField,
        type: types.GroupConnection,
        nullable: true,
        description: `The groups that the user is in, in the order of their names. ${restricted}`,
        args: {
          first: t.arg.int({ description: pageDescriptions.first }),
          after: t.arg.string({ description: pageDescriptions.after }),
        },
        resolve: (node, args, { access, reader, budget }, info) => {
          const { id } = detailsOf(node, access);
          const pages = node.level.together('groups', () => groupPages(reader, readableIds(node, access)));
          return new KeysetConnection(groupListOf(id, pages, { budget, info }), args);
        },
      }),
      sessions: t.field({
        extensions: personalField,
        type: types.SessionConnection,
        nullable: true,
        description: `Where the user is logged in, the newest login first. ${restricted}`,
        args: {
          first: t.arg.int({ description: pageDescriptions.first }),
          after: t.arg.string({ description: pageDescriptions.after }),
        },
        resolve: (node, args, { access, reader, budget, clock }, info) => {
          const { id } = detailsOf(node, access);
          const pages = node.level.together('sessions', () =>
            sessionPages(reader, readableIds(node, access), clock.now()),
          );
          return new KeysetConnection(sessionListOf(id, pages, { budget, info }), args);
        },
      }),
    }),
  });
}

/** The users of the level whose details the viewer may read. */
export function readableIds({ level }: UserNode, access: Access): readonly string[] {
  return access.isAdministrator ? level.ids : level.ids.filter((id) => id === access.userId);
}

/** Refuses whoever may see only the name. */
export function detailsOf({ user }: UserNode, access: Access): User {
  if (user.id === access.userId || access.isAdministrator) return user;
  throw new Refusal('FORBIDDEN', 'Only administrators see this of others.');
}
