/**
 * Whether the database answers, and is where it should be. Anybody may ask at any rate: there is one look at a time, and what it saw holds for a
 * moment, so that asking does not become a load.
 */

import { singleFlight } from '../concurrency/single-flight.ts';
import { withTimeout } from '../concurrency/timeout.ts';
import type { Database, Reader } from './database.ts';
import { readSetting } from './stored-settings.ts';

export interface ReadinessOptions {
  readonly database: Reader & Pick<Database, 'findFault'>;
  /** Looks again whether a fault that was recorded is over. */
  readonly recheckFault: () => Promise<void>;
  /** Told when whether it answers turns out to have changed, with the cause if there is one. */
  readonly onChange: (isUp: boolean, cause?: unknown) => void;
  readonly times?: ReadinessTimes;
}

export interface ReadinessTimes {
  readonly answerWithinMs: number;
  readonly holdsForMs: number;
}

/** Together below two seconds: then those who ask have turned to other nodes. */
const defaultTimes: ReadinessTimes = { answerWithinMs: 1_500, holdsForMs: 250 };

export function createReadiness({
  database,
  recheckFault,
  onChange,
  times = defaultTimes,
}: ReadinessOptions): () => Promise<boolean> {
  let wasUp = true;

  async function answers(): Promise<void> {
    await readSetting(database, 'issuer');
    if (database.findFault()) await recheckFault();
  }

  async function check(): Promise<boolean> {
    let isUp = true;
    let cause: unknown;
    try {
      const { answerWithinMs: ms } = times;
      const isAnswered = await withTimeout(
        ms,
        answers().then(() => true),
        false,
      );
      if (!isAnswered) throw new Error(`There was no answer within ${ms} ms.`);
    } catch (error) {
      isUp = false;
      cause = error;
    }
    if (isUp !== wasUp) onChange(isUp, cause);
    wasUp = isUp;
    // A file that is gone can still be read, and the operator is told by the database itself.
    return isUp && database.findFault() === undefined;
  }

  return singleFlight(check, times.holdsForMs);
}
