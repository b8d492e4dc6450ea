/**
 * Checks that the database responds and has no fault. Anonymous clients can request this check as often as they like, so
 * only one check runs at a time, and its result is cached briefly.
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
  /** By default, `timeoutMs` and `cacheMs` together are less than two seconds, so that load balancers soon use another node. */
  readonly timeoutMs?: number;
  readonly cacheMs?: number;
}

export function createReadiness(options: ReadinessOptions): () => Promise<boolean> {
  const { database, recheckFault, onChange, timeoutMs = 1_500, cacheMs = 250 } = options;
  let wasUp = true;

  async function queryDatabase(): Promise<boolean> {
    await readInstallationValue(database, 'issuer');
    if (database.findFault()) await recheckFault();
    return true;
  }

  async function check(): Promise<boolean> {
    let isUp = false;
    let cause: unknown;
    try {
      isUp = await withTimeout(timeoutMs, queryDatabase(), false);
      if (!isUp) cause = new Error(`The database did not respond within ${timeoutMs} ms.`);
    } catch (error) {
      cause = error;
    }
    if (isUp !== wasUp) onChange(isUp, cause);
    wasUp = isUp;
    // A deleted SQLite file can still be read, so a successful read is not enough. The database logs its faults itself.
    return isUp && database.findFault() === undefined;
  }

  return singleFlight(check, cacheMs);
}
