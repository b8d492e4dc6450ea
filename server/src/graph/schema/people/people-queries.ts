/** The queries for users, groups and sessions. Lists are for administrators. Viewers who manage a folder may look up single users and groups. */

import type { ArgBuilder } from '@pothos/core';
import { readGroup, readGroupByName } from '../../../accounts/groups.ts';
import { readUser, readUserByName, requireAdministrator, requireUser } from '../../../accounts/users.ts';
import { whenDone } from '../../../concurrency/promise-or-value.ts';
import { Refusal } from '../../../refusal.ts';
import {
  builder,
  Group,
  GroupConnection,
  SessionConnection,
  User,
  UserConnection,
  type ExtendedTypes,
} from '../builder.ts';
import { pageArguments } from '../connections/relay-connection-types.ts';
import { KeysetConnection } from '../connections/relay-connection.ts';
import { notInViewOrKey, requireAccountDetails } from './people-types.ts';
import {
  groupList,
  sessionList,
  sessionOrder,
  sessionsOfUsers,
  toUserNode,
  userList,
} from './people-batch.ts';

function listArguments(arg: ArgBuilder<ExtendedTypes>) {
  return {
    text: arg.string({ description: 'Return only names that contain this text, without regard to case.' }),
    ...pageArguments(arg),
  };
}

builder.queryFields((t) => ({
  users: t.field({
    type: UserConnection,
    description: 'All users, ordered by name. Only for administrators.',
    args: {
      hasSecondFactor: t.arg.boolean({ description: 'Return only users with or without a second factor.' }),
      ...listArguments(t.arg),
    },
    resolve: (_, { text, hasSecondFactor, ...page }, { access, reader }) => {
      requireAdministrator(access);
      return new KeysetConnection(userList(reader, { text, hasSecondFactor }), page);
    },
  }),
  user: t.field({
    type: User,
    nullable: true,
    description:
      'Find a user by id or by name. Only for administrators and users with MANAGE on a folder; others find only themselves.',
    args: {
      id: t.arg.id({ description: 'The id of the user. Set either `id` or `username`.' }),
      username: t.arg.string({ description: 'The name of the user, in any case.' }),
    },
    resolve: (_, { id, username }, { access, reader }) => {
      requireOne({ id, username });
      const found = typeof id === 'string' ? readUser(reader, id) : readUserByName(reader, username!);
      return whenDone(found, (user) =>
        user && (access.managesSomething || user.id === access.userId) ? toUserNode(user) : null,
      );
    },
  }),
}));

builder.queryFields((t) => ({
  groups: t.field({
    type: GroupConnection,
    description: 'All groups, ordered by name. Only for administrators and users with MANAGE on a folder.',
    args: listArguments(t.arg),
    resolve: (_, { text, ...page }, { access, reader }) => {
      if (!access.managesSomething) {
        throw new Refusal(
          'FORBIDDEN',
          'Only administrators and users with MANAGE on a folder may list groups.',
        );
      }
      return new KeysetConnection(groupList(reader, text), page);
    },
  }),
  group: t.field({
    type: Group,
    nullable: true,
    description:
      'Find a group by id or by name. Only for administrators and users with MANAGE on a folder; others find only their own groups.',
    args: {
      id: t.arg.id({ description: 'The id of the group. Set either `id` or `name`.' }),
      name: t.arg.string({ description: 'The name of the group, in any case.' }),
    },
    resolve: (_, { id, name }, { access, reader }) => {
      requireOne({ id, name });
      const found = typeof id === 'string' ? readGroup(reader, id) : readGroupByName(reader, name!);
      return whenDone(found, (group) =>
        group &&
        (access.managesSomething || (access.isSelf(access.userId) && access.subjectIds.has(group.id)))
          ? group
          : null,
      );
    },
  }),
  sessions: t.field({
    type: SessionConnection,
    description: `The active sessions of all users or of one user, newest login first. Only for administrators. ${notInViewOrKey}`,
    args: {
      userId: t.arg.id({
        description: 'Return only the sessions of this user. NOT_FOUND if the user does not exist.',
      }),
      ...pageArguments(t.arg),
    },
    resolve: async (_, { userId, ...page }, { access, reader, clock, budget, viewer }, info) => {
      requireAdministrator(access);
      requireAccountDetails(viewer, access);
      const now = clock.now();
      if (typeof userId !== 'string') return new KeysetConnection(sessionList(reader, now), page);
      await requireUser(reader, userId);
      return sessionsOfUsers(reader, [userId], now).connect(userId, sessionOrder, page, { budget, info });
    },
  }),
}));

function requireOne(args: Readonly<Record<string, string | null | undefined>>): void {
  if (Object.values(args).filter((value) => typeof value === 'string').length === 1) return;
  const names = Object.keys(args).map((name) => `\`${name}\``);
  throw new Refusal('BAD_INPUT', `Set either ${names.join(' or ')}, and not both.`);
}
