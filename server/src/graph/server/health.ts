/** What a node needs to work, and whether it has it: for people who look, not for load balancers, which have `/readyz`. */

import type { Reader } from '../../database/database.ts';
import { migrations, readSchemaVersion } from '../../database/migrations.ts';
import { Refusal } from '../../refusal.ts';
import type { SigningKeys } from '../../sessions/signing-keys.ts';
import type { ServerFacts } from './server-facts.ts';

export interface HealthCheck {
  readonly name: string;
  readonly isOk: boolean;
  /** In a sentence, for people. */
  readonly detail: string;
}

export async function checkHealth(
  reader: Reader,
  { isReady, keys, backupState }: Pick<ServerFacts, 'isReady' | 'keys' | 'backupState'>,
): Promise<HealthCheck[]> {
  return [
    await checkDatabase(isReady),
    await checkSchema(reader),
    checkSigning(keys),
    ...(backupState ? [{ name: 'backup', ...(await backupState()) }] : []),
  ];
}

async function checkDatabase(isReady: () => Promise<boolean>): Promise<HealthCheck> {
  const isOk = await isReady();
  return { name: 'database', isOk, detail: `The database ${isOk ? 'answers' : 'does not answer'}.` };
}

async function checkSchema(reader: Reader): Promise<HealthCheck> {
  const taken = await readSchemaVersion(reader);
  const known = migrations.length;
  const isOk = taken === known;
  const detail = isOk
    ? `The schema is up to date (${taken} steps).`
    : `The schema has taken ${taken} steps, and this program knows ${known}: another version has changed it. Start the newer program.`;
  return { name: 'schema', isOk, detail };
}

function checkSigning(keys: SigningKeys): HealthCheck {
  const name = 'signing key';
  if (!canSign(keys)) {
    const detail =
      'This node cannot open the key that signs auth tokens: it has another master key than the others.';
    return { name, isOk: false, detail };
  }
  if (!keys.areAllKnown) {
    return {
      name,
      isOk: false,
      detail: 'The signing keys could not be read for a while: some may be unknown here.',
    };
  }
  const count = keys.all.length;
  return { name, isOk: true, detail: `A key signs, and ${count === 1 ? 'it verifies' : `${count} verify`}.` };
}

function canSign(keys: SigningKeys): boolean {
  try {
    return keys.current.privateKey !== undefined;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}
