/** The lists of users, groups and sessions that are paged through. */

import {
  countGroups,
  countGroupsOf,
  groupKey,
  listGroups,
  listGroupsOf,
  type Group,
} from '../../accounts/groups.ts';
import { countUsers, listUsers, userKey, type UserFilter } from '../../accounts/users.ts';
import { whenDone, type Reader } from '../../database/database.ts';
import { isRowId } from '../../database/row-id.ts';
import { Refusal } from '../../refusal.ts';
import {
  countSessions,
  countSessionsOf,
  listSessions,
  listSessionsOf,
  type SessionPosition,
} from '../../sessions/session-list.ts';
import type { KeysetList } from '../lists/keyset-connection.ts';
import { PagesOfEach, type Charge } from '../lists/pages-of-each.ts';
import { SessionLevel, UserLevel, type SessionNode, type UserNode } from './people-level.ts';

export function userList(reader: Reader, filter: UserFilter): KeysetList<UserNode> {
  return {
    name: `users ${filter.groupId ?? ''} ${filter.text ?? ''}`,
    keyOf: ({ user }) => userKey(user),
    read: (slice) => whenDone(listUsers(reader, filter, slice), (users) => new UserLevel(users).nodes),
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
  return {
    name: `groups of ${userId}`,
    keyOf: groupKey,
    read: (slice) => pages.pageOf(userId, slice, charge),
    count: () => pages.countOf(userId),
  };
}

/** The sessions of all users. */
export function sessionList(reader: Reader, now: number): KeysetList<SessionNode> {
  return {
    name: 'sessions',
    keyOf: sessionKey,
    read: ({ after, limit }) =>
      whenDone(
        listSessions(reader, { after: toPosition(after), limit, now }),
        (sessions) => new SessionLevel(reader, sessions).nodes,
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
        const { nodes } = new SessionLevel(reader, [...sessions.values()].flat());
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
  return {
    name: `sessions of ${userId}`,
    keyOf: sessionKey,
    read: (slice) => pages.pageOf(userId, slice, charge),
    count: () => pages.countOf(userId),
  };
}

function sessionKey({ session: { createdAt, id } }: SessionNode): string {
  return `${createdAt} ${id}`;
}

/** A checksum can be made by anybody: the key of a cursor is looked at as closely as any other input. */
function toPosition(key: string | undefined): SessionPosition | undefined {
  if (key === undefined) return undefined;
  const [createdAt = '', id = ''] = key.split(' ');
  if (!/^\d{1,15}$/.test(createdAt) || !isRowId(id)) {
    throw new Refusal('BAD_INPUT', '`after` is not a cursor of this list.');
  }
  return { createdAt: Number(createdAt), id };
}
