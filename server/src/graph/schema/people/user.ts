/** The type User. Viewers see only the name of other users; administrators see all fields. */

import type { Access } from '../../../access/access.ts';
import type { Group } from '../../../accounts/groups.ts';
import type { User as UserRow } from '../../../accounts/users.ts';
import { Refusal } from '../../../refusal.ts';
import type { Builder, NamedRefOf, ObjectRefOf } from '../builder.ts';
import { personalField } from '../../document-fields.ts';
import { KeysetConnection, pageArguments } from '../connections/keyset-connection.ts';
import type { SessionNode, UserNode } from './people-batch.ts';
import { groupListOf, groupPages, sessionListOf, sessionPages } from './people-lists.ts';

export const restricted = 'Of others only for administrators: null otherwise, with the error FORBIDDEN.';

interface UserConnections {
  readonly GroupConnection: ObjectRefOf<KeysetConnection<Group>>;
  readonly SessionConnection: ObjectRefOf<KeysetConnection<SessionNode>>;
}

export function implementUser(
  builder: Builder,
  User: NamedRefOf<UserNode>,
  connections: UserConnections,
): void {
  User.implement({
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
        resolve: (node, _, { access }) => requireDetails(node, access).isAdministrator,
      }),
      isDisabled: t.boolean({
        extensions: personalField,
        nullable: true,
        description: `Whoever is disabled cannot log in, and has no sessions. ${restricted}`,
        resolve: (node, _, { access }) => requireDetails(node, access).disabledAt !== null,
      }),
      createdAt: t.field({
        extensions: personalField,
        type: 'DateTime',
        nullable: true,
        description: restricted,
        resolve: (node, _, { access }) => requireDetails(node, access).createdAt,
      }),
      lastLoginAt: t.field({
        extensions: personalField,
        type: 'DateTime',
        nullable: true,
        description: `When the user last logged in; null if never. ${restricted}`,
        resolve: (node, _, { access }) => requireDetails(node, access).lastLoginAt,
      }),
    }),
  });
  defineListFields(builder, User, connections);
}

function defineListFields(
  builder: Builder,
  User: NamedRefOf<UserNode>,
  { GroupConnection, SessionConnection }: UserConnections,
): void {
  builder.objectFields(User, (t) => ({
    groups: t.field({
      extensions: personalField,
      type: GroupConnection,
      nullable: true,
      description: `The groups that the user is in, in the order of their names. ${restricted}`,
      args: pageArguments(t.arg),
      resolve: (node, args, { access, reader, budget }, info) => {
        const { id } = requireDetails(node, access);
        const pages = node.batch.readOnce('groups', () => groupPages(reader, readableIds(node, access)));
        return new KeysetConnection(groupListOf(id, pages, { budget, info }), args);
      },
    }),
    sessions: t.field({
      extensions: personalField,
      type: SessionConnection,
      nullable: true,
      description: `Where the user is logged in, the newest login first. ${restricted}`,
      args: pageArguments(t.arg),
      resolve: (node, args, { access, reader, budget, clock }, info) => {
        const { id } = requireDetails(node, access);
        const pages = node.batch.readOnce('sessions', () =>
          sessionPages(reader, readableIds(node, access), clock.now()),
        );
        return new KeysetConnection(sessionListOf(id, pages, { budget, info }), args);
      },
    }),
  }));
}

/** The users of the batch whose details the viewer may read. */
export function readableIds({ batch }: UserNode, access: Access): readonly string[] {
  return access.isAdministrator ? batch.ids : batch.ids.filter((id) => id === access.userId);
}

/** Refuses a viewer who may see only the user's name. */
export function requireDetails({ user }: UserNode, access: Access): UserRow {
  if (user.id === access.userId || access.isAdministrator) return user;
  throw new Refusal('FORBIDDEN', 'Only administrators see this of others.');
}
