/** Reads and changes the passkeys of users. A passkey belongs to one user and to one host name of the server. */

import { whenDone, type PromiseOrValue } from '../../concurrency/promise-or-value.ts';
import type { Reader, Transaction } from '../../database/database.ts';
import { isRowId, sql } from '../../database/statement.ts';
import { Refusal } from '../../refusal.ts';
import { afterEnrolment, afterRemoval, type EnrolledFactor } from './factors.ts';

/** As users see it. */
export interface Passkey {
  readonly id: string;
  readonly name: string;
  /** The authenticator may copy the passkey to other devices of the user. */
  readonly isSynced: boolean;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
}

/** As an authenticator created it. */
export interface PasskeyCredential {
  /** In base64url. */
  readonly credentialId: string;
  /** A COSE key. */
  readonly publicKey: Uint8Array;
  /** The number of uses that the authenticator counts; always 0 for a synced passkey. */
  readonly counter: number;
  readonly transports: readonly string[];
  /** The host name of the server, to which the passkey is bound. */
  readonly relyingParty: string;
  readonly isSynced: boolean;
}

/** A passkey that is used to sign in. */
export interface StoredCredential extends PasskeyCredential {
  readonly id: string;
  readonly userId: string;
}

const maxPasskeysPerUser = 20;

type PasskeyRow = Omit<Passkey, 'isSynced'> & { readonly isSynced: number };
type CredentialRow = Omit<StoredCredential, 'transports' | 'isSynced'> & {
  readonly transports: string;
  readonly isSynced: number;
};

const selectPasskey = sql`
  select id, name, is_synced as "isSynced", created_at as "createdAt", last_used_at as "lastUsedAt" from passkeys`;
const findOfUser = sql<{ userId: string }, PasskeyRow>`
  ${selectPasskey} where user_id = ${'userId'} order by created_at, id`;
const findOne = sql<{ userId: string; id: string }, PasskeyRow>`
  ${selectPasskey} where user_id = ${'userId'} and id = ${'id'}`;
const selectCredential = sql`
  select id, user_id as "userId", credential_id as "credentialId", public_key as "publicKey", counter, transports,
    relying_party as "relyingParty", is_synced as "isSynced" from passkeys`;
const findByCredentialId = sql<{ credentialId: string }, CredentialRow>`
  ${selectCredential} where credential_id = ${'credentialId'}`;
const findCredentialsOfUser = sql<{ userId: string }, CredentialRow>`
  ${selectCredential} where user_id = ${'userId'}`;
const insert = sql<CredentialRow & { name: string; now: number }>`
  insert into passkeys (id, user_id, credential_id, public_key, counter, transports, relying_party, is_synced, name,
    created_at)
  values (${'id'}, ${'userId'}, ${'credentialId'}, ${'publicKey'}, ${'counter'}, ${'transports'},
    ${'relyingParty'}, ${'isSynced'}, ${'name'}, ${'now'})`;
/** Of several concurrent uses with one counter value, on any node, exactly one changes the row. */
const recordUse = sql<{ id: string; userId: string; counter: number; newCounter: number; now: number }>`
  update passkeys set counter = ${'newCounter'}, last_used_at = ${'now'}
  where id = ${'id'} and user_id = ${'userId'} and counter = ${'counter'}`;
const updateName = sql<{ userId: string; id: string; name: string }>`
  update passkeys set name = ${'name'} where user_id = ${'userId'} and id = ${'id'}`;
const deleteOne = sql<{ userId: string; id: string }>`
  delete from passkeys where user_id = ${'userId'} and id = ${'id'}`;

/** The passkeys of a user, oldest first. */
export function listPasskeys(reader: Reader, userId: string): PromiseOrValue<readonly Passkey[]> {
  return whenDone(reader.all(findOfUser, { userId }), (rows) => rows.map(toPasskey));
}

export async function requirePasskey(reader: Reader, userId: string, id: string): Promise<Passkey> {
  const row = isRowId(id) ? await reader.get(findOne, { userId, id }) : undefined;
  if (!row) throw new Refusal('NOT_FOUND', 'You have no passkey with this id.');
  return toPasskey(row);
}

export function readCredential(
  reader: Reader,
  credentialId: string,
): PromiseOrValue<StoredCredential | undefined> {
  return whenDone(reader.get(findByCredentialId, { credentialId }), (row) => row && toCredential(row));
}

export function listCredentials(reader: Reader, userId: string): PromiseOrValue<readonly StoredCredential[]> {
  return whenDone(reader.all(findCredentialsOfUser, { userId }), (rows) => rows.map(toCredential));
}

/** Refuses a passkey that is already registered, for any user. */
export async function storePasskey(
  transaction: Transaction,
  passkey: PasskeyCredential & { readonly id: string; readonly userId: string; readonly name: string },
  now: number,
): Promise<EnrolledFactor> {
  const { userId, credentialId, transports, isSynced } = passkey;
  if (await readCredential(transaction, credentialId)) {
    throw new Refusal('CONFLICT', 'This passkey is already registered on this server.');
  }
  if ((await listPasskeys(transaction, userId)).length >= maxPasskeysPerUser) {
    throw new Refusal(
      'CONFLICT',
      `You already have ${maxPasskeysPerUser} passkeys. Remove one that you no longer use.`,
    );
  }
  await transaction.run(insert, {
    ...passkey,
    transports: JSON.stringify(transports),
    isSynced: Number(isSynced),
    now,
  });
  return afterEnrolment(transaction, userId, now);
}

/** Returns false if the passkey was removed, or another request has used it with the same counter in the meantime. */
export async function recordPasskeyUse(
  transaction: Transaction,
  { id, userId, counter }: Pick<StoredCredential, 'id' | 'userId' | 'counter'>,
  { newCounter, now }: { readonly newCounter: number; readonly now: number },
): Promise<boolean> {
  return (await transaction.run(recordUse, { id, userId, counter, newCounter, now })) === 1;
}

export async function renamePasskey(
  transaction: Transaction,
  { userId, id, name }: { readonly userId: string; readonly id: string; readonly name: string },
): Promise<Passkey> {
  const passkey = await requirePasskey(transaction, userId, id);
  await transaction.run(updateName, { userId, id, name });
  return { ...passkey, name };
}

export async function deletePasskey(
  transaction: Transaction,
  { userId, id }: { readonly userId: string; readonly id: string },
  now: number,
): Promise<Passkey> {
  const passkey = await requirePasskey(transaction, userId, id);
  await transaction.run(deleteOne, { userId, id });
  await afterRemoval(transaction, userId, now);
  return passkey;
}

function toPasskey(row: PasskeyRow): Passkey {
  return { ...row, isSynced: row.isSynced === 1 };
}

function toCredential(row: CredentialRow): StoredCredential {
  return { ...row, transports: JSON.parse(row.transports) as string[], isSynced: row.isSynced === 1 };
}
