/** Reads the times that each test process recorded when it exited. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Names the folder of the recorded times. Without it, no times are recorded. */
export const timesVariable = 'ESPALIER_TEST_TIMES';

export interface FileTimes {
  readonly file: string;
  readonly seconds: number;
  /** CPU time of all threads and of the child processes that have ended. */
  readonly cpuSeconds: number;
}

const maxListed = 10;

/** Formats the files with the highest CPU time. */
export function formatSlowestFiles(folder: string): string {
  const all = readdirSync(folder).map(
    (name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as FileTimes,
  );
  const slowest = all.toSorted((one, other) => other.cpuSeconds - one.cpuSeconds).slice(0, maxListed);
  const line = (seconds: string, cpu: string, file: string) =>
    `${seconds.padStart(7)} ${cpu.padStart(7)}  ${file}\n`;
  return [
    `\n${line('Seconds', 'CPU', 'of the slowest files')}`,
    ...slowest.map(({ seconds, cpuSeconds, file }) => line(seconds.toFixed(1), cpuSeconds.toFixed(1), file)),
  ].join('');
}
