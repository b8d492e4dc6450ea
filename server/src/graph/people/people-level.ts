/** Users, and sessions, that were read together stay together: what one is asked for is read for all at once. */

import { readUsers, type User } from '../../accounts/users.ts';
import { whenDone, type PromiseOrValue, type Reader } from '../../database/database.ts';
import { readRefreshesOf, type Session, type SessionRefresh } from '../../sessions/session-list.ts';

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
  readonly ids: readonly string[];
  readonly #others = new Map<string, unknown>();

  constructor(users: Iterable<User>) {
    this.nodes = Array.from(users, (user) => new UserNode(user, this));
    this.ids = this.nodes.map(({ user }) => user.id);
  }

  /** What others read for all of the level: once for each name. */
  together<T>(name: string, read: () => T): T {
    if (!this.#others.has(name)) this.#others.set(name, read());
    return this.#others.get(name) as T;
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
    const { nodes } = new UserLevel(users.values());
    return new Map(nodes.map((node) => [node.user.id, node]));
  });
}

/** A user who was read alone is a level of one. */
export function levelOfOneUser(user: User): UserNode {
  return new UserLevel([user]).nodes[0]!;
}

export function levelOfOneSession(reader: Reader, session: Session): SessionNode {
  return new SessionLevel(reader, [session]).nodes[0]!;
}
