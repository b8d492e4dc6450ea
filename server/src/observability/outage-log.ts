/**
 * Lines for what stands in the way of many requests at once, such as a database that is away: one when it begins, then one a
 * minute with how many there were. A line with a stack for each request would hide everything else, and fill a disk.
 */

import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';

/** What is wrong, in words that are the same for all whom it concerns; the cause, and whatever else is known of this one. */
export type LogOutage = (message: string, cause: unknown, facts?: object) => void;

const minuteMs = 60_000;
/** A cause may name a port or a process: then each is another. */
const mostKept = 100;

export function createOutageLog(log: Pick<Logger, 'warn'>, clock: Clock): LogOutage {
  const lately = new Map<string, { readonly at: number; repeated: number }>();
  return (message, err, facts) => {
    const key = `${message} ${err instanceof Error ? err.message : ''}`;
    const now = clock.now();
    const last = lately.get(key);
    // Also if the clock was set back.
    if (last && Math.abs(now - last.at) < minuteMs) {
      last.repeated++;
      return;
    }
    if (lately.size >= mostKept) lately.clear();
    lately.set(key, { at: now, repeated: 0 });
    log.warn({ ...facts, err, ...(last?.repeated && { repeated: last.repeated }) }, message);
  };
}
