/**
 * Whether the database responds and has no fault. Anonymous clients can request it at any rate, so one check runs at a time
 * and its result is cached for a moment.
 */

import { singleFlight } from '../concurrency/single-flight.ts';
import { withTimeout } from '../concurrency/timeout.ts';
import type { Database, Reader } from './database.ts';
import { readSetting } from './installation-values.ts';

interface ReadinessOptions {
  readonly database: Reader & Pick<Database, 'findFault'>;
  /** Checks whether a recorded fault is over. */
  readonly recheckFault: () => Promise<void>;
  /** Called when the result changes, with the cause of a failure. */
  readonly onChange: (isUp: boolean, cause?: unknown) => void;
  readonly times?: ReadinessTimes;
}

interface ReadinessTimes {
  readonly answerWithinMs: number;
  readonly holdsForMs: number;
}

/** The sum is below two seconds, so that load balancers switch to other nodes within that time. */
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
    // A deleted file can still be read; the database itself logs that fault.
    return isUp && database.findFault() === undefined;
  }

  return singleFlight(check, times.holdsForMs);
}
