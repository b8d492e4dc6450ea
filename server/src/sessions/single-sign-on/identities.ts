/**
 * The links between users and their accounts at the single sign-on provider. An account is identified by issuer and subject, never by
 * its e-mail address or name, because those can change hands.
 */

import { randomUUID } from 'node:crypto';
import type { ViewerRights } from '../../accounts/users.ts';
import { whenDone, type PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import type { Reader, Transaction } from '../../database/database.ts';
import { isRowId, list, sql } from '../../database/statement.ts';
import {
  idCodec,
  voidCodec,
  type Caller,
  type Changed,
  type ChangeRunner,
} from '../../journal/change-runner.ts';
import { record, type ChangeOrigin } from '../../journal/journal.ts';
import { Refusal } from '../../refusal.ts';
import { requireSession } from '../auth-token.ts';
import { requireRecentSignIn } from '../recent-sign-in.ts';
import { revokeSession } from '../revocation.ts';
import { requireSignInMethod, type OfferedMethods } from '../offered-methods.ts';
import { spendCode, type CheckedCode } from './attempts.ts';
import { displayNameOf } from './person.ts';
import { sessionsOfIdentity } from './provider-sessions.ts';
import type { AuthenticatedPerson } from './provider.ts';

/** A user's account at the provider. */
export interface Identity {
  readonly id: string;
  readonly userId: string;
  readonly issuer: string;
  readonly subject: string;
  /** The user name at the provider, at the last sign-in. */
  readonly name: string | null;
  readonly createdAt: number;
  /** Null before the first sign-in. */
  readonly lastUsedAt: number | null;
}

const selectIdentity = sql`
  select id, user_id as "userId", issuer, subject, name, created_at as "createdAt", last_used_at as "lastUsedAt"
  from user_identities`;
const findById = sql<{ id: string }, Identity>`${selectIdentity} where id = ${'id'}`;
const findByAccount = sql<{ issuer: string; subject: string }, Identity>`
  ${selectIdentity} where issuer = ${'issuer'} and subject = ${'subject'}`;
const findOfUsers = sql<{ userIds: readonly string[] }, Identity>`
  ${selectIdentity} where user_id in (select value from ${list('userIds')}) order by created_at, id`;

const insert = sql<Identity>`
  insert into user_identities (id, user_id, issuer, subject, name, created_at, last_used_at)
  values (${'id'}, ${'userId'}, ${'issuer'}, ${'subject'}, ${'name'}, ${'createdAt'}, ${'lastUsedAt'})`;
const updateUse = sql<{ id: string; name: string | null; now: number }>`
  update user_identities set name = ${'name'}, last_used_at = ${'now'} where id = ${'id'}`;
const remove = sql<{ id: string }>`delete from user_identities where id = ${'id'}`;
const removeOfUser = sql<{ userId: string }>`delete from user_identities where user_id = ${'userId'}`;

const maxIdentitiesPerUser = 20;

export function findIdentity(
  reader: Reader,
  { issuer, subject }: Pick<Identity, 'issuer' | 'subject'>,
): PromiseOrValue<Identity | undefined> {
  return reader.get(findByAccount, { issuer, subject });
}

export function readIdentity(reader: Reader, id: string): PromiseOrValue<Identity | undefined> {
  return isRowId(id) ? reader.get(findById, { id }) : undefined;
}

/** The identities of each user, the oldest link first. Users without identities are left out. */
export function listIdentitiesOf(
  reader: Reader,
  userIds: readonly string[],
): PromiseOrValue<Map<string, Identity[]>> {
  return whenDone(reader.all(findOfUsers, { userIds }), (identities) =>
    Map.groupBy(identities, ({ userId }) => userId),
  );
}

/** Stores the link of a user who has just signed in or asked for the link. Returns its id. */
export async function insertIdentity(
  transaction: Transaction,
  userId: string,
  person: AuthenticatedPerson,
  { now, isUsed }: { readonly now: number; readonly isUsed: boolean },
): Promise<string> {
  const { issuer, subject } = person;
  const id = randomUUID();
  const lastUsedAt = isUsed ? now : null;
  await transaction.run(insert, {
    id,
    userId,
    issuer,
    subject,
    name: displayNameOf(person),
    createdAt: now,
    lastUsedAt,
  });
  return id;
}

export async function recordUse(
  transaction: Transaction,
  id: string,
  person: AuthenticatedPerson,
  now: number,
): Promise<void> {
  await transaction.run(updateUse, { id, name: displayNameOf(person), now });
}

/** Removes all links of a user. The caller ends the sessions. */
export async function deleteIdentities(transaction: Transaction, userId: string): Promise<void> {
  await transaction.run(removeOfUser, { userId });
}

interface CodeReader {
  /** Reads the result of a sign-in at the provider, for the client that has the verifier. */
  readCode(input: { readonly code: string; readonly verifier: string }): Promise<CheckedCode>;
}

/** The changes of identities that viewers can request. */
export class Identities {
  readonly #changes: ChangeRunner<ViewerRights>;
  readonly #codes: CodeReader | undefined;
  readonly #methods: OfferedMethods;

  /** Without `codes`, single sign-on is not configured, and no account can be linked. */
  constructor(changes: ChangeRunner<ViewerRights>, codes: CodeReader | undefined, methods: OfferedMethods) {
    this.#changes = changes;
    this.#codes = codes;
    this.#methods = methods;
  }

  /** Links the caller with the account that signed in at the provider. Afterwards, this account needs no password to sign in. */
  link(
    caller: Caller,
    input: { readonly code: string; readonly verifier: string },
  ): Promise<Changed<{ readonly id: string }>> {
    requireSession(caller);
    const { sessionId } = caller;
    const codes = this.#codes;
    if (!codes) throw new Refusal('CONFLICT', 'Single sign-on is not configured on this server.');
    return this.#changes.runUnlessMade(caller, idCodec, async () => {
      const { person, digest } = await codes.readCode(input);
      return this.#changes.run(caller, {
        codec: idCodec,
        work: async (transaction, { userId }, by) => {
          await requireRecentSignIn(transaction, { sessionId, now: by.now });
          await spendCode(transaction, digest, by.now);
          return { id: await link(transaction, userId, person, by) };
        },
      });
    });
  }

  /**
   * Removes the link of an account, and ends the sessions that began with it, except the caller's own. Users can remove their own
   * links as long as they can sign in without them. Administrators can remove the links of all users.
   */
  unlink(caller: Caller, id: string): Promise<Changed<void>> {
    requireSession(caller);
    return this.#changes.run(caller, {
      codec: voidCodec,
      work: async (transaction, { userId, isAdministrator }, by) => {
        const identity = await readIdentity(transaction, id);
        if (!identity || (identity.userId !== userId && !isAdministrator)) {
          throw new Refusal('NOT_FOUND', 'There is no linked account with this id.');
        }
        const sessions = await sessionsOfIdentity(transaction, { identityId: id, now: by.now });
        for (const session of sessions) {
          if (session.sessionId === caller.sessionId) continue;
          await revokeSession(transaction, session, { because: 'revoked', ...by });
        }
        await transaction.run(remove, { id });
        if (identity.userId === userId) await requireSignInMethod(transaction, userId, this.#methods);
        const before = { singleSignOn: identity.issuer, name: identity.name };
        record(transaction, { kind: 'UNLINK_IDENTITY', ...by, userId: identity.userId, before });
      },
    });
  }
}

async function link(
  transaction: Transaction,
  userId: string,
  person: AuthenticatedPerson,
  by: ChangeOrigin,
): Promise<string> {
  const existing = await findIdentity(transaction, person);
  if (existing?.userId === userId) return existing.id;
  if (existing) {
    throw new Refusal(
      'CONFLICT',
      'This account at the provider is already linked with another user. Log in as this user and unlink the account first, or ask an administrator.',
    );
  }
  const identities = (await listIdentitiesOf(transaction, [userId])).get(userId) ?? [];
  if (identities.length >= maxIdentitiesPerUser) {
    throw new Refusal(
      'CONFLICT',
      `You have ${maxIdentitiesPerUser} linked accounts. Unlink one of them first.`,
    );
  }
  const id = await insertIdentity(transaction, userId, person, { now: by.now, isUsed: false });
  const after = { singleSignOn: person.issuer, name: displayNameOf(person) };
  record(transaction, { kind: 'LINK_IDENTITY', ...by, userId, after });
  return id;
}
