/** Users, and sessions, that were read together stay together: what one is asked for is read for all at once. */

import { readGroupsOf, type Group } from '../../accounts/groups.ts';
import { readUsers, type User } from '../../accounts/users.ts';
import { whenDone, type PromiseOrValue, type Reader } from '../../database/database.ts';
import {
  readRefreshesOf,
  readSessionsOf,
  type Session,
  type SessionRefresh,
} from '../../sessions/session-list.ts';

export class UserNode {
  readonly user: User;
  readonly level: UserLevel;

  constructor(user: User, level: UserLevel) {
    this.user = user;
    this.level = level;
  }
}

export class UserLevel {
  readonly nodes: readonly UserNode[];
  readonly #reader: Reader;
  readonly ids: readonly string[];
  readonly #others = new Map<string, unknown>();
  #groups: PromiseOrValue<Map<string, Group[]>> | undefined;
  #sessions: PromiseOrValue<Map<string, SessionNode[]>> | undefined;

  constructor(reader: Reader, users: Iterable<User>) {
    this.#reader = reader;
    this.nodes = Array.from(users, (user) => new UserNode(user, this));
    this.ids = this.nodes.map(({ user }) => user.id);
  }

  /** What others read for all of the level: once for each name. */
  together<T>(name: string, read: () => T): T {
    if (!this.#others.has(name)) this.#others.set(name, read());
    return this.#others.get(name) as T;
  }

  groupsOf(id: string): PromiseOrValue<readonly Group[]> {
    this.#groups ??= readGroupsOf(this.#reader, this.ids);
    return whenDone(this.#groups, (groups) => groups.get(id) ?? []);
  }

  sessionsOf(id: string, now: number): PromiseOrValue<readonly SessionNode[]> {
    this.#sessions ??= whenDone(readSessionsOf(this.#reader, this.ids, now), (sessions) => {
      const { nodes } = new SessionLevel(this.#reader, [...sessions.values()].flat());
      return Map.groupBy(nodes, ({ session }) => session.userId);
    });
    return whenDone(this.#sessions, (sessions) => sessions.get(id) ?? []);
  }
}

export class SessionNode {
  readonly session: Session;
  readonly level: SessionLevel;

  constructor(session: Session, level: SessionLevel) {
    this.session = session;
    this.level = level;
  }
}

export class SessionLevel {
  readonly nodes: readonly SessionNode[];
  readonly #reader: Reader;
  #users: PromiseOrValue<ReadonlyMap<string, UserNode>> | undefined;
  #refreshes: PromiseOrValue<ReadonlyMap<string, SessionRefresh[]>> | undefined;

  constructor(reader: Reader, sessions: readonly Session[]) {
    this.#reader = reader;
    this.nodes = sessions.map((session) => new SessionNode(session, this));
  }

  /** Undefined if the user has been deleted meanwhile. */
  userOf(userId: string): PromiseOrValue<UserNode | undefined> {
    this.#users ??= readUserNodes(this.#reader, this.#userIds());
    return whenDone(this.#users, (users) => users.get(userId));
  }

  refreshesOf(sessionId: string): PromiseOrValue<readonly SessionRefresh[]> {
    const ids = () => this.nodes.map(({ session }) => session.id);
    this.#refreshes ??= readRefreshesOf(this.#reader, ids());
    return whenDone(this.#refreshes, (refreshes) => refreshes.get(sessionId) ?? []);
  }

  #userIds(): string[] {
    return [...new Set(this.nodes.map(({ session }) => session.userId))];
  }
}

/** Those of the ids that are users, as one level. */
export function readUserNodes(
  reader: Reader,
  ids: readonly string[],
): PromiseOrValue<ReadonlyMap<string, UserNode>> {
  return whenDone(readUsers(reader, ids), (users) => {
    const { nodes } = new UserLevel(reader, users.values());
    return new Map(nodes.map((node) => [node.user.id, node]));
  });
}

/** A user who was read alone is a level of one. */
export function levelOfOneUser(reader: Reader, user: User): UserNode {
  return new UserLevel(reader, [user]).nodes[0]!;
}

export function levelOfOneSession(reader: Reader, session: Session): SessionNode {
  return new SessionLevel(reader, [session]).nodes[0]!;
}
