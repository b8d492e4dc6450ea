/** Times relative to now, with the exact time as a tooltip. */

import { useEffect, useState } from 'react';

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
const exact = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'medium' });
const day = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });

const steps: readonly (readonly [Intl.RelativeTimeFormatUnit, seconds: number, below: number])[] = [
  ['second', 1, 60],
  ['minute', 60, 3600],
  ['hour', 3600, 86_400],
  ['day', 86_400, 7 * 86_400],
];

/** For example "3 minutes ago". Over a week away, it is a date. */
function formatRelativeTime(at: string, now: number): string {
  const seconds = (Date.parse(at) - now) / 1000;
  const away = Math.abs(seconds);
  if (away < 5) return 'just now';
  const step = steps.find(([, , below]) => away < below);
  return step ? relative.format(Math.trunc(seconds / step[1]), step[0]) : day.format(Date.parse(at));
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

export function Time({ at }: { at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={exact.format(Date.parse(at))}>
      {formatRelativeTime(at, now)}
    </time>
  );
}
