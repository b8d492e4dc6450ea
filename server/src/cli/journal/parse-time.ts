/** Parses a time that a user typed: in UTC unless it has an offset, or relative to now. */

import { UsageError } from '../../config/start-error.ts';

const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };
const shape = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(Z|[+-]\d{2}:\d{2})?)?$/i;

export const timeAbout =
  '2026-11-15, "2026-11-15 16:50" (UTC), an RFC 3339 time, or 30m, 12h, 7d for that long ago';

/** Returns the time in the format of the server. */
export function parseTime(flag: string, text: string, now: number): string {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const at = unit === undefined ? instantOf(text) : now - Number(count) * seconds[unit]! * 1_000;
  if (at === undefined || Number.isNaN(at) || at < 0) {
    throw new UsageError(`${flag} takes a time (${timeAbout}), not ${JSON.stringify(text)}.`);
  }
  return new Date(at).toISOString();
}

function instantOf(text: string): number | undefined {
  const [, date, time = '00:00', zone = 'Z'] = shape.exec(text) ?? [];
  if (date === undefined) return undefined;
  // Date.parse takes the 30th of February for the 2nd of March.
  const isDay = new Date(Date.parse(`${date}T00:00Z`) || 0).toISOString().startsWith(date);
  return isDay ? Date.parse(`${date}T${time}${zone.toUpperCase()}`) : undefined;
}
