/**
 * Whether the database responds and has no fault. Anonymous clients can request it at any rate, so one check runs at a time
 * and its result is cached for a moment.
 */

import { singleFlight } from '../concurrency/single-flight.ts';
import { withTimeout } from '../concurrency/timeout.ts';
import type { Database, Reader } from './database.ts';
import { readInstallationValue } from './installation-values.ts';

interface ReadinessOptions {
  readonly database: Reader & Pick<Database, 'findFault'>;
  /** Checks whether a recorded fault is over. */
  readonly recheckFault: () => Promise<void>;
  /** Called when the result changes, with the cause of a failure. */
  readonly onChange: (isUp: boolean, cause?: unknown) => void;
  /** The sum of both times is below two seconds by default, so that load balancers switch to other nodes within that time. */
  readonly answerWithinMs?: number;
  readonly holdsForMs?: number;
}

export function createReadiness(options: ReadinessOptions): () => Promise<boolean> {
  const { database, recheckFault, onChange, answerWithinMs = 1_500, holdsForMs = 250 } = options;
  let wasUp = true;

  async function answers(): Promise<boolean> {
    await readInstallationValue(database, 'issuer');
    if (database.findFault()) await recheckFault();
    return true;
  }

  async function check(): Promise<boolean> {
    let isUp = false;
    let cause: unknown;
    try {
      isUp = await withTimeout(answerWithinMs, answers(), false);
      if (!isUp) cause = new Error(`There was no answer within ${answerWithinMs} ms.`);
    } catch (error) {
      cause = error;
    }
    if (isUp !== wasUp) onChange(isUp, cause);
    wasUp = isUp;
    // A deleted file can still be read; the database itself logs that fault.
    return isUp && database.findFault() === undefined;
  }

  return singleFlight(check, holdsForMs);
}
