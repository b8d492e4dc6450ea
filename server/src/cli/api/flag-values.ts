/** Converts the values of flags to values of the API: names of enum values, and times. */

import { nearestName } from '../../config/nearest-name.ts';
import { UsageError, invalidValue } from '../../config/start-error.ts';

const seconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 };
const shape = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?)(Z|[+-]\d{2}:\d{2})?)?$/i;

export const timeAbout =
  '2026-11-15, "2026-11-15 16:50" (UTC), an RFC 3339 time, or an age such as 30m, 12h or 7d';

/** The name of an enum value on the command line, for example `move-folder` for `MOVE_FOLDER`. */
export function toName(value: string): string {
  return value.toLowerCase().replaceAll('_', '-');
}

/** Returns undefined without texts. The noun names the value in an error, for example `result`. */
export function parseNames<const Value extends string>(
  noun: string,
  texts: readonly string[],
  values: readonly Value[],
): readonly Value[] | undefined {
  if (texts.length === 0) return undefined;
  const names = values.map(toName);
  return texts.map((text) => {
    const index = names.indexOf(toName(text));
    if (index >= 0) return values[index]!;
    const meant = nearestName(toName(text), names);
    const advice = meant ? `Did you mean ${meant}?` : `Use one of ${names.join(', ')}.`;
    throw new UsageError(`Unknown ${noun} ${JSON.stringify(text)}. ${advice}`);
  });
}

/** Parses a time that a user typed: in UTC unless it has an offset, or relative to now. Returns the format of the server. */
export function parseTime(flag: string, text: string, now: number): string {
  const [, count, unit] = /^(\d{1,9})([smhd])$/.exec(text) ?? [];
  const at = unit === undefined ? parseInstant(text) : now - Number(count) * seconds[unit]! * 1_000;
  if (at === undefined || at < 0) {
    throw invalidValue(flag, `a time, such as ${timeAbout}`, text);
  }
  return new Date(at).toISOString();
}

/** Parses an absolute time, in UTC unless it has an offset. Returns undefined if the text is not a time. */
export function parseInstant(text: string): number | undefined {
  const [, date, time = '00:00', zone = 'Z'] = shape.exec(text) ?? [];
  if (date === undefined) return undefined;
  // Date.parse takes the 30th of February for the 2nd of March.
  const isDay = new Date(Date.parse(`${date}T00:00Z`) || 0).toISOString().startsWith(date);
  const at = isDay ? Date.parse(`${date}T${time}${zone.toUpperCase()}`) : Number.NaN;
  return Number.isNaN(at) ? undefined : at;
}
