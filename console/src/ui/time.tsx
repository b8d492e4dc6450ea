/** The formats of all times: relative to now with the exact time as a tooltip, exact, and the time of day. */

import { useEffect, useState } from 'react';

/** The language of the console is English. The region gives dates that are not ambiguous, and hours from 0 to 23. */
export const locale = 'en-GB';
const relativeFormat = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
const exactFormat = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'medium' });
const dayFormat = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
const monthFormat = new Intl.DateTimeFormat(locale, { month: 'short', timeZone: 'UTC' });
const clockFormat = new Intl.DateTimeFormat(locale, { hour: '2-digit', minute: '2-digit' });

const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, seconds: number, below: number])[] = [
  ['second', 1, 60],
  ['minute', 60, 3600],
  ['hour', 3600, 86_400],
  ['day', 86_400, 7 * 86_400],
];

/** For example "14:02". */
export function formatClock(at: string): string {
  return clockFormat.format(Date.parse(at));
}

/** For example "Nov", for 11. */
export function formatMonth(number: number): string {
  return monthFormat.format(Date.UTC(2000, number - 1));
}

/** For example "15 Nov 2026". */
export function formatDay(at: string): string {
  return dayFormat.format(Date.parse(at));
}

/** For example "15 Nov 2026, 14:02:31". */
export function formatExact(at: string): string {
  return exactFormat.format(Date.parse(at));
}

/** For example "3 minutes ago". A time that is more than a week away is formatted as a date. */
function formatRelativeTime(at: string, now: number, isDeadline: boolean): string {
  const difference = (Date.parse(at) - now) / 1000;
  const seconds = isDeadline ? difference : Math.min(0, difference);
  const distance = Math.abs(seconds);
  if (distance < 5) return 'just now';
  const step = steps.find(([, , below]) => distance < below);
  return step ? relativeFormat.format(Math.trunc(seconds / step[1]), step[0]) : formatDay(at);
}

/** The current time, updated at an interval. */
export function useNow(everyMs = 15_000): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

interface TimeProps {
  readonly at: string;
  /** Whether the time may be in the future. If an event seems to be in the future, the clocks of server and browser differ. */
  readonly isDeadline?: boolean;
}

export function Time({ at, isDeadline = false }: TimeProps) {
  const now = useNow();
  return (
    <time dateTime={at} title={formatExact(at)}>
      {formatRelativeTime(at, now, isDeadline)}
    </time>
  );
}
