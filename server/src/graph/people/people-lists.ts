/** The lists of users, groups and sessions that are paged through. */

import { countGroups, groupKey, hasGroupsUpTo, listGroups, type Group } from '../../accounts/groups.ts';
import { countUsers, hasUsersUpTo, listUsers, userKey, type UserFilter } from '../../accounts/users.ts';
import { whenDone, type Reader } from '../../database/database.ts';
import { isRowId } from '../../database/row-id.ts';
import { Refusal } from '../../refusal.ts';
import {
  countSessions,
  hasSessionsDownTo,
  listSessions,
  type SessionFilter,
  type SessionPlace,
} from '../../sessions/session-list.ts';
import type { KeysetList } from '../lists/keyset-connection.ts';
import { SessionLevel, UserLevel, type SessionNode, type UserNode } from './people-level.ts';

export function userList(reader: Reader, filter: UserFilter): KeysetList<UserNode> {
  return {
    name: `users ${filter.groupId ?? ''} ${filter.text ?? ''}`,
    keyOf: ({ user }) => userKey(user),
    read: (slice) =>
      whenDone(listUsers(reader, filter, slice), (users) => new UserLevel(reader, users).nodes),
    count: () => countUsers(reader, filter),
    hasUpTo: (key) => hasUsersUpTo(reader, filter, key),
  };
}

export function groupList(reader: Reader, text: string | null | undefined): KeysetList<Group> {
  return {
    name: `groups ${text ?? ''}`,
    keyOf: groupKey,
    read: (slice) => listGroups(reader, text, slice),
    count: () => countGroups(reader, text),
    hasUpTo: (key) => hasGroupsUpTo(reader, text, key),
  };
}

export function sessionList(reader: Reader, filter: SessionFilter): KeysetList<SessionNode> {
  return {
    name: `sessions ${filter.userId ?? ''}`,
    keyOf: ({ session: { createdAt, id } }) => `${createdAt} ${id}`,
    read: ({ after, limit }) =>
      whenDone(
        listSessions(reader, filter, { after: after === undefined ? after : toPlace(after), limit }),
        (sessions) => new SessionLevel(reader, sessions).nodes,
      ),
    count: () => countSessions(reader, filter),
    hasUpTo: (key) => hasSessionsDownTo(reader, filter, toPlace(key)),
  };
}

/** A checksum can be made by anybody: the key of a cursor is looked at as closely as any other input. */
function toPlace(key: string): SessionPlace {
  const [createdAt = '', id = ''] = key.split(' ');
  if (!/^\d{1,15}$/.test(createdAt) || !isRowId(id)) {
    throw new Refusal('BAD_INPUT', '`after` is not a cursor of this list.');
  }
  return { createdAt: Number(createdAt), id };
}
