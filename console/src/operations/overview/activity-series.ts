/** The activity of a node per minute: numbers for a chart and a description for screen readers. */

export interface ActivityMinute {
  readonly at: string;
  readonly requests: number;
  readonly errors: number;
  readonly logins: number;
  readonly failedLogins: number;
  readonly refreshes: number;
}

export interface Series {
  readonly key: Exclude<keyof ActivityMinute, 'at'>;
  readonly title: string;
  /** Singular and plural of the counted thing. */
  readonly one: string;
  readonly many: string;
  /** Values above zero are highlighted. */
  readonly isProblem?: true;
  /** The screen that lists the counted things. */
  readonly screen?: { readonly path: string; readonly label: string };
  /** Selects the lines of the counted things in the log, because no screen lists them. */
  readonly log?: LogLines;
}

export interface LogLines {
  /** The condition of a jq filter. */
  readonly condition: string;
  /** The meaning of the count, and the useful fields of a line. */
  readonly explanation: string;
}

const sessionsScreen = { path: '/sessions', label: 'Show sessions' };

export const allSeries: readonly Series[] = [
  { key: 'requests', title: 'Requests', one: 'request', many: 'requests' },
  {
    key: 'errors',
    title: 'Errors',
    one: 'error',
    many: 'errors',
    isProblem: true,
    log: {
      condition: '.status >= 500',
      explanation:
        'An error is a response with a status of 500 or higher. In the log, “code” is its error code. A line with the same “requestId” and the message “request failed” has the cause.',
    },
  },
  { key: 'logins', title: 'Logins', one: 'login', many: 'logins', screen: sessionsScreen },
  {
    key: 'failedLogins',
    title: 'Failed logins',
    one: 'failed login',
    many: 'failed logins',
    isProblem: true,
    screen: { path: '/sign-ins?result=failed', label: 'Show failed sign-ins' },
  },
  { key: 'refreshes', title: 'Refreshes', one: 'refresh', many: 'refreshes', screen: sessionsScreen },
];

export function formatCount({ one, many }: Series, count: number): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}

export function sumSeries({ key }: Series, minutes: readonly ActivityMinute[]): number {
  return minutes.reduce((sum, minute) => sum + minute[key], 0);
}

/** Returns the minute with the highest count, the earliest of several, or undefined if all counts are zero. */
export function findBusiest(
  { key }: Series,
  minutes: readonly ActivityMinute[],
): { readonly at: string; readonly count: number } | undefined {
  let busiest: { at: string; count: number } | undefined;
  for (const minute of minutes) {
    if (minute[key] > (busiest?.count ?? 0)) busiest = { at: minute.at, count: minute[key] };
  }
  return busiest;
}

/** Describes the chart for screen readers. */
export function describeSeries(
  series: Series,
  minutes: readonly ActivityMinute[],
  clockText: (at: string) => string,
): string {
  const busiest = findBusiest(series, minutes);
  if (!busiest) return `No ${series.many} in the last hour.`;
  const total = formatCount(series, sumSeries(series, minutes));
  return `${total} in the last hour, most ${busiest.count.toLocaleString('en')} at ${clockText(busiest.at)}.`;
}

/** Rounds the highest count up, so that a small change does not rescale all bars. */
export function roundCeiling(highest: number): number {
  if (highest <= 4) return Math.max(highest, 1);
  const power = 10 ** Math.floor(Math.log10(highest));
  return [1, 2, 3, 4, 5, 6, 8, 10].map((step) => step * power).find((step) => step >= highest)!;
}

/** Returns the command that prints the log lines of the counted things, from the first minute with a count. */
export function formatLogCommand(
  { key }: Series,
  { condition }: LogLines,
  minutes: readonly ActivityMinute[],
): string {
  const first = minutes.find((minute) => minute[key] > 0) ?? minutes[0];
  const since = first ? `.time >= ${Date.parse(first.at)} and ` : '';
  // Lines that are not JSON are skipped.
  return `jq -cR 'fromjson? | select(${since}${condition})' espalier.log`;
}

const byteUnits = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte', 'petabyte'] as const;

/** For example "1.2 GB". */
export function formatBytes(bytes: number): string {
  const power = Math.max(0, Math.min(byteUnits.length - 1, Math.floor(Math.log10(Math.max(bytes, 1)) / 3)));
  const value = bytes / 1000 ** power;
  return value.toLocaleString('en', {
    style: 'unit',
    unit: byteUnits[power]!,
    unitDisplay: power === 0 ? 'long' : 'short',
    maximumFractionDigits: value < 10 ? 1 : 0,
  });
}
