/** What each test file took, as its process left it when it ended: where the time of a run goes. */

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Where they are left; nowhere if it is not set. */
export const timesVariable = 'ESPALIER_TEST_TIMES';

export interface FileTimes {
  readonly file: string;
  readonly seconds: number;
  /** Of all its threads, and of those of its processes that it has seen end. */
  readonly cpuSeconds: number;
}

const most = 10;

/** Those that took most of a processor. */
export function slowestFiles(folder: string): string {
  const all = readdirSync(folder).map(
    (name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as FileTimes,
  );
  const slowest = all.toSorted((one, other) => other.cpuSeconds - one.cpuSeconds).slice(0, most);
  const line = (seconds: string, cpu: string, file: string) =>
    `${seconds.padStart(7)} ${cpu.padStart(7)}  ${file}\n`;
  return [
    `\n${line('Seconds', 'CPU', 'of the files that took most')}`,
    ...slowest.map(({ seconds, cpuSeconds, file }) => line(seconds.toFixed(1), cpuSeconds.toFixed(1), file)),
  ].join('');
}
