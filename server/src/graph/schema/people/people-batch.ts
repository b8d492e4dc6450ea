/**
 * Users and sessions that were read together form a batch: a field is read for the whole batch together. Also defines the
 * paginated lists of users, groups and sessions.
 */

import {
  countGroups,
  countGroupsOf,
  groupKey,
  listGroups,
  listGroupsOf,
  type Group,
} from '../../../accounts/groups.ts';
import {
  countUsers,
  listUsers,
  readUsers,
  userKey,
  type User,
  type UserFilter,
} from '../../../accounts/users.ts';
import { whenDone, type PromiseOrValue } from '../../../concurrency/promise-or-value.ts';
import type { Reader } from '../../../database/database.ts';
import { Refusal } from '../../../refusal.ts';
import {
  countSessions,
  countSessionsOf,
  listSessions,
  listSessionsOf,
  readRefreshesOf,
  type Session,
  type SessionPosition,
  type SessionRefresh,
} from '../../../sessions/session-reads.ts';
import { BatchedLists, toTimeAndId, type KeysetList } from '../connections/relay-connection.ts';

export interface UserNode extends User {
  readonly batch: UserBatch;
}

export class UserBatch {
  readonly nodes: readonly UserNode[];
  readonly #shared = new Map<string, unknown>();

  constructor(users: Iterable<User>) {
    this.nodes = Array.from(users, (user) => ({ ...user, batch: this }));
  }

  /** Reads something for the whole batch, once for each name. */
  readOnce<T>(name: string, read: () => T): T {
    if (!this.#shared.has(name)) this.#shared.set(name, read());
    return this.#shared.get(name) as T;
  }
}

export interface SessionNode extends Session {
  readonly user: () => PromiseOrValue<UserNode>;
  readonly refreshes: () => PromiseOrValue<readonly SessionRefresh[]>;
}

/** The users and refreshes of all sessions are read together. */
export function toSessionNodes(reader: Reader, sessions: readonly Session[]): readonly SessionNode[] {
  const userOf = readTogether(
    sessions.map(({ userId }) => userId),
    (ids) => readUserNodes(reader, ids),
  );
  const refreshesOf = readTogether(
    sessions.map(({ id }) => id),
    (ids) => readRefreshesOf(reader, ids),
  );
  return sessions.map((session) => ({
    ...session,
    user: () => whenDone(userOf(session.userId), requireExisting),
    refreshes: () => whenDone(refreshesOf(session.id), (refreshes) => refreshes ?? []),
  }));
}

type Id = string | null | undefined;

/** Returns a function that finds an object by its id. Its first call reads the objects of all ids. */
export function readTogether<T>(
  ids: readonly Id[],
  read: (ids: readonly string[]) => PromiseOrValue<ReadonlyMap<string, T>>,
): (id: Id) => PromiseOrValue<T | null> {
  let found: PromiseOrValue<ReadonlyMap<string, T>> | undefined;
  const readAll = () => read([...new Set(ids.filter((id) => typeof id === 'string'))]);
  return (id) => (id ? whenDone((found ??= readAll()), (all) => all.get(id) ?? null) : null);
}

/** Reads users as one batch. The map has no entry for an id without a user. */
export function readUserNodes(
  reader: Reader,
  ids: readonly string[],
): PromiseOrValue<ReadonlyMap<string, UserNode>> {
  return whenDone(readUsers(reader, ids), (users) => {
    const { nodes } = new UserBatch(users.values());
    return new Map(nodes.map((node) => [node.id, node]));
  });
}

/** Creates a batch of one user. */
export function toUserNode(user: User): UserNode {
  return new UserBatch([user]).nodes[0]!;
}

/** Auth tokens and lists that were read earlier can refer to a deleted user or session. */
export function requireExisting<T>(found: T | null | undefined): T {
  if (found === null || found === undefined)
    throw new Refusal('NOT_FOUND', 'The user or the session no longer exists.');
  return found;
}

export function userList(reader: Reader, filter: UserFilter): KeysetList<UserNode> {
  return {
    name: `users ${filter.groupId ?? ''} ${filter.hasSecondFactor ?? ''} ${filter.text ?? ''}`,
    keyOf: userKey,
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

export const groupOrder = { name: 'groups', keyOf: groupKey };

/** The groups of each user. */
export function groupsOfUsers(reader: Reader, userIds: readonly string[]): BatchedLists<Group> {
  return new BatchedLists(userIds, {
    read: (ids, slice) => listGroupsOf(reader, ids, slice),
    count: (ids) => countGroupsOf(reader, ids),
  });
}

export const sessionOrder = {
  name: 'sessions',
  keyOf: ({ createdAt, id }: SessionNode) => `${createdAt} ${id}`,
};

/** The sessions of all users. */
export function sessionList(reader: Reader, now: number): KeysetList<SessionNode> {
  return {
    ...sessionOrder,
    read: ({ after, limit }) =>
      whenDone(listSessions(reader, { after: toPosition(after), limit, now }), (sessions) =>
        toSessionNodes(reader, sessions),
      ),
    count: () => countSessions(reader, now),
  };
}

/** The sessions of each user. */
export function sessionsOfUsers(
  reader: Reader,
  userIds: readonly string[],
  now: number,
): BatchedLists<SessionNode> {
  return new BatchedLists(userIds, {
    read: (ids, { after, limit }) =>
      whenDone(listSessionsOf(reader, ids, { after: toPosition(after), limit, now }), (sessions) => {
        const nodes = toSessionNodes(reader, [...sessions.values()].flat());
        return Map.groupBy(nodes, ({ userId }) => userId);
      }),
    count: (ids) => countSessionsOf(reader, ids, now),
  });
}

function toPosition(key: string | undefined): SessionPosition | undefined {
  const position = toTimeAndId(key);
  return position && { createdAt: position.time, id: position.id };
}
