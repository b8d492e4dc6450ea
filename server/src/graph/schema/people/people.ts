/**
 * The types User, Group and Session, the queries for them, and their mutations. Lists are for administrators. A viewer who
 * manages a folder may look up single users and groups.
 */

import {
  readUser,
  readUserByName,
  requireAdministrator,
  requireUser,
  type User as UserRow,
} from '../../../accounts/users.ts';
import { readGroup, readGroupByName, type Group as GroupRow } from '../../../accounts/groups.ts';
import { whenDone, type PromiseOrValue } from '../../../concurrency/promise-or-value.ts';
import { Refusal } from '../../../refusal.ts';
import type { Builder, GraphContext } from '../builder.ts';
import {
  defineKeysetConnection,
  KeysetConnection,
  pageArguments,
  type PageInfoRef,
} from '../connections/keyset-connection.ts';
import { defineGroupMutations, implementGroup } from './group.ts';
import { toUserNode, type SessionNode, type UserNode } from './people-batch.ts';
import { groupList, sessionList, sessionListOf, sessionPages, userList } from './people-lists.ts';
import { defineSessionMutations, defineSessionRefresh, implementSession } from './session.ts';
import { definePasswordMutations, defineUserMutations } from './user-mutations.ts';
import { implementUser } from './user.ts';

export type PeopleTypes = ReturnType<typeof definePeopleTypes>;

export function definePeopleTypes(builder: Builder, { PageInfo }: { readonly PageInfo: PageInfoRef }) {
  // The types refer to each other, so all of them exist before their fields are defined.
  const User = builder.objectRef<UserNode>('User');
  const Group = builder.objectRef<GroupRow>('Group');
  const Session = builder.objectRef<SessionNode>('Session');
  const UserConnection = defineKeysetConnection(builder, { PageInfo, Node: User, plural: 'users' });
  const GroupConnection = defineKeysetConnection(builder, { PageInfo, Node: Group, plural: 'groups' });
  const SessionConnection = defineKeysetConnection(builder, { PageInfo, Node: Session, plural: 'sessions' });

  implementUser(builder, User, { GroupConnection, SessionConnection });
  implementGroup(Group, { UserConnection });
  implementSession(Session, { User, SessionRefresh: defineSessionRefresh(builder) });
  return { User, Group, Session, UserConnection, GroupConnection, SessionConnection };
}

/** Adds the fields of people to Query and Mutation. */
export function definePeople(builder: Builder, types: PeopleTypes): void {
  defineUserQueries(builder, types);
  defineGroupQueries(builder, types);
  defineSessionQuery(builder, types);
  defineUserMutations(builder, types);
  definePasswordMutations(builder);
  defineGroupMutations(builder, types);
  defineSessionMutations(builder);
}

function defineUserQueries(
  builder: Builder,
  { User, UserConnection }: Pick<PeopleTypes, 'User' | 'UserConnection'>,
): void {
  builder.queryFields((t) => ({
    users: t.field({
      type: UserConnection,
      description: 'All users in the order of their names. For administrators.',
      args: {
        text: t.arg.string({ description: 'Only those whose name holds it, in any case.' }),
        ...pageArguments(t.arg),
      },
      resolve: (_, { text, ...page }, { access, reader }) => {
        requireAdministrator(access);
        return new KeysetConnection(userList(reader, { text }), page);
      },
    }),
    user: t.field({
      type: User,
      nullable: true,
      description:
        'A user by id or by name: for administrators and whoever manages a folder; others find only themselves.',
      args: { id: t.arg.id(), username: t.arg.string() },
      resolve: (_, { id, username }, context) =>
        whenDone(findUser(context, id, username), (user) => (user ? toUserNode(user) : null)),
    }),
  }));
}

function defineGroupQueries(
  builder: Builder,
  { Group, GroupConnection }: Pick<PeopleTypes, 'Group' | 'GroupConnection'>,
): void {
  builder.queryFields((t) => ({
    groups: t.field({
      type: GroupConnection,
      description: 'All groups in the order of their names. For administrators and whoever manages a folder.',
      args: {
        text: t.arg.string({ description: 'Only those whose name holds it, in any case.' }),
        ...pageArguments(t.arg),
      },
      resolve: (_, { text, ...page }, { access, reader }) => {
        if (!access.managesSomething) {
          throw new Refusal('FORBIDDEN', 'Only administrators and whoever manages a folder may do this.');
        }
        return new KeysetConnection(groupList(reader, text), page);
      },
    }),
    group: t.field({
      type: Group,
      nullable: true,
      description:
        'A group by id or by name: for administrators and whoever manages a folder; others find the groups they are in.',
      args: { id: t.arg.id(), name: t.arg.string() },
      resolve: (_, { id, name }, context) => whenDone(findGroup(context, id, name), (group) => group ?? null),
    }),
  }));
}

function defineSessionQuery(
  builder: Builder,
  { SessionConnection }: Pick<PeopleTypes, 'SessionConnection'>,
): void {
  builder.queryField('sessions', (t) =>
    t.field({
      type: SessionConnection,
      description: 'Who is logged in: everybody or one user, the newest login first. For administrators.',
      args: {
        userId: t.arg.id({ description: 'Only the sessions of this user; NOT_FOUND if there is none.' }),
        ...pageArguments(t.arg),
      },
      resolve: async (_, { userId, ...page }, { access, reader, clock, budget }, info) => {
        requireAdministrator(access);
        const now = clock.now();
        if (typeof userId !== 'string') return new KeysetConnection(sessionList(reader, now), page);
        await requireUser(reader, userId);
        const pages = sessionPages(reader, [userId], now);
        return new KeysetConnection(sessionListOf(userId, pages, { budget, info }), page);
      },
    }),
  );
}

type Argument = string | null | undefined;

/** Returns undefined for a user that the viewer may not see. */
function findUser(
  { access, reader }: GraphContext,
  id: Argument,
  username: Argument,
): PromiseOrValue<UserRow | undefined> {
  requireOne({ id, username });
  const found = typeof id === 'string' ? readUser(reader, id) : readUserByName(reader, username!);
  return whenDone(found, (user) =>
    user && (access.managesSomething || user.id === access.userId) ? user : undefined,
  );
}

function findGroup(
  { access, reader }: GraphContext,
  id: Argument,
  name: Argument,
): PromiseOrValue<GroupRow | undefined> {
  requireOne({ id, name });
  const found = typeof id === 'string' ? readGroup(reader, id) : readGroupByName(reader, name!);
  return whenDone(found, (group) =>
    group && (access.managesSomething || access.subjectIds.has(group.id)) ? group : undefined,
  );
}

function requireOne(args: Readonly<Record<string, Argument>>): void {
  if (Object.values(args).filter((value) => typeof value === 'string').length === 1) return;
  const names = Object.keys(args).map((name) => `\`${name}\``);
  throw new Refusal('BAD_INPUT', `Give ${names.join(' or ')}, and only one of them.`);
}
