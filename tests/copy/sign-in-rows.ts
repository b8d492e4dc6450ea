/** Rows of tables that only an OpenID provider or an authenticator fills: linked accounts, second factors and passkeys. */

import { randomBytes, randomUUID } from 'node:crypto';
import { tables, type Row } from '../../server/src/maintenance/copy/tables.ts';
import { withDatabase } from '../support/stored-rows.ts';

interface SignInRows {
  readonly userId: string;
  readonly sessionId: string;
  readonly now: number;
}

/** Stores one row in each of these tables. */
export async function storeSignInRows(url: string, { userId, sessionId, now }: SignInRows): Promise<void> {
  const identityId = randomUUID();
  const issuer = 'https://login.example.com';
  const rows: Readonly<Record<string, Row>> = {
    user_identities: {
      id: identityId,
      user_id: userId,
      issuer,
      subject: 'größe 𝔊',
      name: 'Ærø',
      created_at: now,
      last_used_at: null,
    },
    single_sign_on_sessions: {
      session_id: sessionId,
      identity_id: identityId,
      sid: 'one',
      sealed_refresh_token: randomBytes(40),
      checked_at: now,
    },
    single_sign_on_logouts: {
      token_digest: randomBytes(32),
      issuer,
      subject: null,
      sid: 'two',
      received_at: now,
    },
    totp_secrets: {
      user_id: userId,
      secret: randomBytes(20),
      sealed_with: null,
      last_step: 57_000_000,
      created_at: now,
    },
    recovery_codes: { user_id: userId, digest: randomBytes(32), used_at: null },
    passkeys: {
      id: randomUUID(),
      user_id: userId,
      credential_id: randomBytes(16).toString('base64url'),
      public_key: randomBytes(77),
      counter: 3,
      transports: '["internal"]',
      relying_party: 'tree.example.com',
      is_synced: 1,
      name: 'Laptop 💻',
      created_at: now,
      last_used_at: null,
    },
    spent_challenges: { digest: randomBytes(32), expires_at: now + 300_000 },
  };
  await withDatabase(url, (database) =>
    database.transaction(async (transaction) => {
      for (const [name, row] of Object.entries(rows)) {
        await transaction.run(tables.find((table) => table.name === name)!.insert, row);
      }
    }),
  );
}
