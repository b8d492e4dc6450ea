/**
 * Logs an outage, for example of the database, that affects many requests: one line when it begins, then one per minute with
 * the number of repetitions. One line with a stack per request would hide everything else and fill the disk.
 */

import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';

/** The message must be the same for all requests of an outage. `fields` describe a single request. */
export type LogOutage = (message: string, cause: unknown, fields?: object) => void;

const minuteMs = 60_000;
/** Limits the memory: the message of a cause may contain a port or a process id, so the number of keys is unlimited. */
const maxRemembered = 100;

export function createOutageLog(log: Pick<Logger, 'warn'>, clock: Clock): LogOutage {
  const recent = new Map<string, { readonly at: number; repeated: number }>();
  return (message, err, fields) => {
    const key = `${message} ${err instanceof Error ? err.message : ''}`;
    const now = clock.now();
    const last = recent.get(key);
    // The absolute value, in case the clock was set back.
    if (last && Math.abs(now - last.at) < minuteMs) {
      last.repeated++;
      return;
    }
    if (recent.size >= maxRemembered) recent.clear();
    recent.set(key, { at: now, repeated: 0 });
    log.warn({ ...fields, err, ...(last?.repeated && { repeated: last.repeated }) }, message);
  };
}
