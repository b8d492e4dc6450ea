/** The lists of users, groups and sessions that clients page through. */

import {
  countGroups,
  countGroupsOf,
  groupKey,
  listGroups,
  listGroupsOf,
  type Group,
} from '../../../accounts/groups.ts';
import { countUsers, listUsers, userKey, type UserFilter } from '../../../accounts/users.ts';
import { whenDone } from '../../../concurrency/promise-or-value.ts';
import type { Reader } from '../../../database/database.ts';
import {
  countSessions,
  countSessionsOf,
  listSessions,
  listSessionsOf,
  type SessionPosition,
} from '../../../sessions/list-sessions.ts';
import { toTimeAndId, type KeysetList } from '../connections/keyset-connection.ts';
import { PagesOfEach, type Charge } from '../connections/pages-of-each.ts';
import { SessionBatch, UserBatch, type SessionNode, type UserNode } from './people-batch.ts';

export function userList(reader: Reader, filter: UserFilter): KeysetList<UserNode> {
  return {
    name: `users ${filter.groupId ?? ''} ${filter.text ?? ''}`,
    keyOf: ({ user }) => userKey(user),
    read: (slice) => whenDone(listUsers(reader, filter, slice), (users) => new UserBatch(users).nodes),
    count: () => countUsers(reader, filter),
  };
}

export function groupList(reader: Reader, text: string | null | undefined): KeysetList<Group> {
  return {
    name: `groups ${text ?? ''}`,
    keyOf: groupKey,
    read: (slice) => listGroups(reader, text, slice),
    count: () => countGroups(reader, text),
  };
}

export function groupPages(reader: Reader, userIds: readonly string[]): PagesOfEach<Group> {
  return new PagesOfEach(userIds, {
    read: (ids, slice) => listGroupsOf(reader, ids, slice),
    count: (ids) => countGroupsOf(reader, ids),
  });
}

export function groupListOf(userId: string, pages: PagesOfEach<Group>, charge: Charge): KeysetList<Group> {
  return pages.listOf(userId, { name: `groups of ${userId}`, keyOf: groupKey }, charge);
}

/** The sessions of all users. */
export function sessionList(reader: Reader, now: number): KeysetList<SessionNode> {
  return {
    name: 'sessions',
    keyOf: sessionKey,
    read: ({ after, limit }) =>
      whenDone(
        listSessions(reader, { after: toPosition(after), limit, now }),
        (sessions) => new SessionBatch(reader, sessions).nodes,
      ),
    count: () => countSessions(reader, now),
  };
}

export function sessionPages(
  reader: Reader,
  userIds: readonly string[],
  now: number,
): PagesOfEach<SessionNode> {
  return new PagesOfEach(userIds, {
    read: (ids, { after, limit }) =>
      whenDone(listSessionsOf(reader, ids, { after: toPosition(after), limit, now }), (sessions) => {
        const { nodes } = new SessionBatch(reader, [...sessions.values()].flat());
        return Map.groupBy(nodes, ({ session }) => session.userId);
      }),
    count: (ids) => countSessionsOf(reader, ids, now),
  });
}

export function sessionListOf(
  userId: string,
  pages: PagesOfEach<SessionNode>,
  charge: Charge,
): KeysetList<SessionNode> {
  return pages.listOf(userId, { name: `sessions of ${userId}`, keyOf: sessionKey }, charge);
}

function sessionKey({ session: { createdAt, id } }: SessionNode): string {
  return `${createdAt} ${id}`;
}

function toPosition(key: string | undefined): SessionPosition | undefined {
  const position = toTimeAndId(key);
  return position && { createdAt: position.time, id: position.id };
}
