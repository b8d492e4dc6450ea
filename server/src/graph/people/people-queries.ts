/** Finding users, groups and sessions. Lists are for administrators; whoever manages a folder may look somebody up. */

import { readGroup, readGroupByName, type Group } from '../../accounts/groups.ts';
import { readUser, readUserByName, requireUser, type User } from '../../accounts/users.ts';
import { whenDone, type PromiseOrValue } from '../../database/database.ts';
import { Refusal } from '../../refusal.ts';
import type { Builder, GraphContext } from '../builder.ts';
import { requireAdministrator } from '../../accounts/administrator.ts';
import { pageDescriptions } from '../lists/keyset-connection-type.ts';
import { KeysetConnection } from '../lists/keyset-connection.ts';
import { levelOfOneUser } from './people-level.ts';
import { groupList, sessionList, sessionListOf, sessionPages, userList } from './people-lists.ts';
import type { PeopleTypes } from './people-types.ts';

type Given = string | null | undefined;

export function definePeopleQueries(
  builder: Builder,
  { User, Group, UserConnection, GroupConnection, SessionConnection }: PeopleTypes,
): void {
  builder.queryFields((t) => {
    const page = {
      first: t.arg.int({ description: pageDescriptions.first }),
      after: t.arg.string({ description: pageDescriptions.after }),
    };
    return {
      users: t.field({
        type: UserConnection,
        description: 'All users in the order of their names. For administrators.',
        args: {
          text: t.arg.string({ description: 'Only those whose name holds it, in any case.' }),
          ...page,
        },
        resolve: (_, { text, ...args }, { access, reader }) => {
          requireAdministrator(access);
          return new KeysetConnection(userList(reader, { text }), args);
        },
      }),
      user: t.field({
        type: User,
        nullable: true,
        description:
          'A user by id or by name: for administrators and whoever manages a folder; others find only themselves.',
        args: { id: t.arg.id(), username: t.arg.string() },
        resolve: (_, { id, username }, context) =>
          whenDone(findUser(context, id, username), (user) => (user ? levelOfOneUser(user) : null)),
      }),
      groups: t.field({
        type: GroupConnection,
        description:
          'All groups in the order of their names. For administrators and whoever manages a folder.',
        args: {
          text: t.arg.string({ description: 'Only those whose name holds it, in any case.' }),
          ...page,
        },
        resolve: (_, { text, ...args }, { access, reader }) => {
          if (!access.managesSomething) {
            throw new Refusal('FORBIDDEN', 'Only administrators and whoever manages a folder may do this.');
          }
          return new KeysetConnection(groupList(reader, text), args);
        },
      }),
      group: t.field({
        type: Group,
        nullable: true,
        description:
          'A group by id or by name: for administrators and whoever manages a folder; others find the groups they are in.',
        args: { id: t.arg.id(), name: t.arg.string() },
        resolve: (_, { id, name }, context) =>
          whenDone(findGroup(context, id, name), (found) => found ?? null),
      }),
      sessions: t.field({
        type: SessionConnection,
        description: 'Who is logged in: everybody or one user, the newest login first. For administrators.',
        args: {
          userId: t.arg.id({ description: 'Only the sessions of this user; NOT_FOUND if there is none.' }),
          ...page,
        },
        resolve: async (_, { userId, ...args }, { access, reader, clock, budget }, info) => {
          requireAdministrator(access);
          const now = clock.now();
          if (typeof userId !== 'string') return new KeysetConnection(sessionList(reader, now), args);
          await requireUser(reader, userId);
          const pages = sessionPages(reader, [userId], now);
          return new KeysetConnection(sessionListOf(userId, pages, { budget, info }), args);
        },
      }),
    };
  });
}

/** Whom the viewer may not see is not there. */
function findUser(
  { access, reader }: GraphContext,
  id: Given,
  username: Given,
): PromiseOrValue<User | undefined> {
  requireOne({ id, username });
  const found = typeof id === 'string' ? readUser(reader, id) : readUserByName(reader, username!);
  return whenDone(found, (user) =>
    user && (access.managesSomething || user.id === access.userId) ? user : undefined,
  );
}

function findGroup(
  { access, reader }: GraphContext,
  id: Given,
  name: Given,
): PromiseOrValue<Group | undefined> {
  requireOne({ id, name });
  const found = typeof id === 'string' ? readGroup(reader, id) : readGroupByName(reader, name!);
  return whenDone(found, (group) =>
    group && (access.managesSomething || access.subjectIds.has(group.id)) ? group : undefined,
  );
}

function requireOne(given: Readonly<Record<string, Given>>): void {
  if (Object.values(given).filter((value) => typeof value === 'string').length === 1) return;
  const names = Object.keys(given).map((name) => `\`${name}\``);
  throw new Refusal('BAD_INPUT', `Give ${names.join(' or ')}, and only one of them.`);
}
