/** Prepares a new installation: its issuer, a signing key, the root folder and an administrator. */

import { randomUUID } from 'node:crypto';
import { createUser, hasUsers, toAccountName } from '../accounts/users.ts';
import { generatePassword, type Passwords } from '../accounts/passwords.ts';
import { createFactorEncryption } from '../accounts/second-factors/factors.ts';
import { reencryptTotpSecrets } from '../accounts/second-factors/encrypted-secrets.ts';
import type { Settings } from '../config/settings-table.ts';
import type { Database } from '../database/database.ts';
import { randomSecret } from '../database/encryption.ts';
import { readInstallationValue, insertInstallationValue } from '../database/installation-values.ts';
import { createDemoTree } from '../folders/import/demo-tree.ts';
import { ensureRoot, numberFolders } from '../folders/new-folder-rows.ts';
import { runChange } from '../journal/journal.ts';
import { ensureSigningKey } from '../sessions/manage-signing-keys.ts';
import type { KeyEncryption } from '../sessions/signing-keys.ts';
import { StartError } from '../config/start-error.ts';

interface FirstStartOptions {
  readonly database: Database;
  readonly passwords: Passwords;
  readonly encryption: KeyEncryption;
  readonly now: number;
  readonly settings: Pick<Settings, 'adminUsername' | 'adminPassword' | 'demo' | 'masterKey'>;
}

export interface NewAdministrator {
  readonly username: string;
  /** Set if the password was generated. It is not stored. */
  readonly generatedPassword: string | undefined;
}

const rootName = 'Root';
const unfinishedCopy =
  "The database contains an unfinished copy of an installation. To continue the copy, run the same 'espalier copy' command again.";

/** Runs in one transaction. Has no effect on a prepared installation. Returns the administrator if this call created one. */
export async function prepareInstallation(options: FirstStartOptions): Promise<NewAdministrator | undefined> {
  const { database, encryption, now, settings } = options;
  const factorEncryption = createFactorEncryption(settings.masterKey);
  const candidate = (await hasUsers(database)) ? undefined : await prepareAdministrator(options);
  return runChange(database, async (transaction) => {
    await insertInstallationValue(transaction, 'issuer', `urn:uuid:${randomUUID()}`);
    // Checked after the issuer is stored: a copy that starts at the same time also stores it, so one waits for the other.
    if (await readInstallationValue(transaction, 'copying')) throw new StartError(unfinishedCopy);
    await insertInstallationValue(transaction, 'cursorKey', randomSecret());
    await ensureSigningKey(transaction, { encryption, now });
    // Like the signing keys, secrets from before the master key was set are encrypted now.
    if (factorEncryption.id !== null) {
      await reencryptTotpSecrets(transaction, { from: factorEncryption, to: factorEncryption });
    }
    await ensureRoot(transaction, rootName, now);
    await numberFolders(transaction);
    if (settings.demo) await createDemoTree(transaction, now);
    if (!candidate || (await hasUsers(transaction))) return undefined;
    await createUser(transaction, { ...candidate, isAdministrator: true }, { byUserId: null, now });
    return candidate;
  });
}

export async function readStoredIssuer(database: Database): Promise<string> {
  const issuer = await readInstallationValue(database, 'issuer');
  if (!issuer) throw new Error('The installation has no issuer.');
  return issuer;
}

async function prepareAdministrator({ passwords, settings }: FirstStartOptions) {
  const username = toAccountName(settings.adminUsername);
  if (!username) {
    throw new StartError('ESPALIER_ADMIN_USERNAME must have 1 to 128 characters and no control characters.');
  }
  const generatedPassword = settings.adminPassword === undefined ? generatePassword() : undefined;
  const passwordHash = await passwords.hash(settings.adminPassword ?? generatedPassword!, {
    key: 'first start',
  });
  return { username, generatedPassword, passwordHash };
}
