/** Users and sessions that were read together form a batch: a field of one of them is read for the whole batch at once. */

import { readUsers, type User } from '../../../accounts/users.ts';
import { whenDone, type PromiseOrValue } from '../../../concurrency/promise-or-value.ts';
import type { Reader } from '../../../database/database.ts';
import { Refusal } from '../../../refusal.ts';
import { readRefreshesOf, type Session, type SessionRefresh } from '../../../sessions/list-sessions.ts';

export class UserNode {
  readonly user: User;
  readonly batch: UserBatch;

  constructor(user: User, batch: UserBatch) {
    this.user = user;
    this.batch = batch;
  }
}

export class UserBatch {
  readonly nodes: readonly UserNode[];
  readonly ids: readonly string[];
  readonly #shared = new Map<string, unknown>();

  constructor(users: Iterable<User>) {
    this.nodes = Array.from(users, (user) => new UserNode(user, this));
    this.ids = this.nodes.map(({ user }) => user.id);
  }

  /** Reads something for the whole batch, once for each name. */
  readOnce<T>(name: string, read: () => T): T {
    if (!this.#shared.has(name)) this.#shared.set(name, read());
    return this.#shared.get(name) as T;
  }
}

export class SessionNode {
  readonly session: Session;
  readonly batch: SessionBatch;

  constructor(session: Session, batch: SessionBatch) {
    this.session = session;
    this.batch = batch;
  }
}

export class SessionBatch {
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
    const userIds = () => [...new Set(this.nodes.map(({ session }) => session.userId))];
    this.#users ??= readUserNodes(this.#reader, userIds());
    return whenDone(this.#users, (users) => users.get(userId));
  }

  refreshesOf(sessionId: string): PromiseOrValue<readonly SessionRefresh[]> {
    const ids = () => this.nodes.map(({ session }) => session.id);
    this.#refreshes ??= readRefreshesOf(this.#reader, ids());
    return whenDone(this.#refreshes, (refreshes) => refreshes.get(sessionId) ?? []);
  }
}

/** Reads users as one batch. The map has no entry for an id without a user. */
export function readUserNodes(
  reader: Reader,
  ids: readonly string[],
): PromiseOrValue<ReadonlyMap<string, UserNode>> {
  return whenDone(readUsers(reader, ids), (users) => {
    const { nodes } = new UserBatch(users.values());
    return new Map(nodes.map((node) => [node.user.id, node]));
  });
}

/** Makes a batch of one user. */
export function toUserNode(user: User): UserNode {
  return new UserBatch([user]).nodes[0]!;
}

/** Makes a batch of one session. */
export function toSessionNode(reader: Reader, session: Session): SessionNode {
  return new SessionBatch(reader, [session]).nodes[0]!;
}

/** Auth tokens and lists that were read earlier can refer to a deleted user or session. */
export function requireExisting<T>(found: T | undefined): T {
  if (found === undefined) throw new Refusal('NOT_FOUND', 'It no longer exists.');
  return found;
}
