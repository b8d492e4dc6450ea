/** The services of all second-factor functions. */

import { expiredEnrolments } from '../../accounts/second-factors/enrolments.ts';
import { createFactorEncryption, type SecondFactorPolicy } from '../../accounts/second-factors/factors.ts';
import { findRelyingParty } from '../../accounts/second-factors/relying-party.ts';
import type { Clock } from '../../clock.ts';
import type { Settings } from '../../config/settings-table.ts';
import type { Database } from '../../database/database.ts';
import type { SecretEncryption } from '../../database/encryption.ts';
import { pruneInBatches } from '../../journal/prune.ts';
import type { LoginThrottle } from '../login-throttle.ts';
import type { OfferedMethods } from '../offered-methods.ts';
import type { TokenServices } from '../signed-token.ts';
import { clockSkewMs } from '../signing-keys.ts';
import { expiredChallenges, PasskeyChallenges } from './passkey-challenges.ts';

const pruneBatchSize = 1_000;

export interface SecondFactorServices extends OfferedMethods {
  readonly database: Database;
  readonly clock: Clock;
  readonly throttle: LoginThrottle;
  /** Encrypts the secrets of authenticator apps. */
  readonly factorEncryption: SecretEncryption;
  readonly policy: SecondFactorPolicy;
  /** The name of this server in authenticator apps. */
  readonly factorIssuer: string;
  readonly challenges: PasskeyChallenges;
}

interface Dependencies extends TokenServices, Pick<SecondFactorServices, 'database' | 'throttle'> {
  readonly settings: Settings;
}

export function createSecondFactorServices(dependencies: Dependencies): SecondFactorServices {
  const { database, clock, throttle, settings } = dependencies;
  const { publicUrl, masterKey, secondFactor, passwordLogin, ssoIssuer } = settings;
  return {
    database,
    clock,
    throttle,
    factorEncryption: createFactorEncryption(masterKey),
    policy: secondFactor,
    // Users may have accounts on several servers.
    factorIssuer: publicUrl === undefined ? 'Espalier' : `Espalier (${new URL(publicUrl).hostname})`,
    challenges: new PasskeyChallenges(dependencies),
    passwordLogin,
    ssoIssuer,
    relyingParty: findRelyingParty(settings),
  };
}

/** Deletes expired enrolments and challenges. The clock of another node may be behind. */
export async function pruneSecondFactors(database: Database, now: number): Promise<void> {
  const parameters = { before: now - clockSkewMs, batch: pruneBatchSize };
  await pruneInBatches(database, expiredEnrolments, parameters);
  await pruneInBatches(database, expiredChallenges, parameters);
}
