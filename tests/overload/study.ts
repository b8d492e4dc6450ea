/** A study: a longer run with its own measures that `npm run bench` starts only by name. */

import { summarize } from '../../bench/scenario.ts';

export interface Study {
  readonly name: string;
  readonly about: string;
  run(options: StudyOptions): Promise<readonly Measure[]>;
}

export interface StudyOptions {
  readonly rounds: number;
  readonly note: (text: string) => void;
  readonly signal: AbortSignal;
}

export interface Measure {
  readonly name: string;
  readonly unit: string;
  /** One value per round, or a single one. */
  readonly values: readonly number[];
  /** The run fails if a value is not below this bound. */
  readonly below?: number;
}

/** Returns the measures with a value at or above their bound. */
export function findFailures(measures: readonly Measure[]): string[] {
  return measures
    .filter(({ values, below = Infinity }) => values.some((value) => value >= below))
    .map(({ name, unit, below }) => `${name} must be less than ${below} ${unit}.`);
}

export function toStudyTable(measures: readonly Measure[]): string {
  const rows = [
    ['measure', 'median', 'min', 'max', 'unit'],
    ...measures.map(({ name, unit, values }) => {
      const { median, min, max } = summarize(values);
      return [name, ...[median, min, max].map(format), unit];
    }),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const isText = (column: number) => column === 0 || column === widths.length - 1;
  const pad = (cell: string, column: number) =>
    isText(column) ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!);
  return rows.map((row) => row.map(pad).join('  ').trimEnd()).join('\n');
}

function format(value: number): string {
  const digits = Math.abs(value) < 100 ? 1 : 0;
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
