/** Measures as lines of text, one under the other. */

import { summarise, type Measure } from './scenario.ts';

export interface Row extends Measure {
  readonly scenario: string;
}

export function toTable(rows: readonly Row[]): string {
  const cells = [
    ['scenario', 'measure', 'median', 'least', 'most', 'rounds', 'unit'],
    ...rows.map(({ scenario, name, unit, values }) => {
      const { median, least, most } = summarise(values);
      const range = values.length === 1 ? ['', ''] : [least, most].map(toText);
      return [scenario, name, toText(median), ...range, String(values.length), unit];
    }),
  ];
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((line) => line[column]!.length)));
  return cells.map((line) => toLine(line, widths)).join('\n');
}

function toLine(line: readonly string[], widths: readonly number[]): string {
  const last = line.length - 1;
  return line
    .map((cell, column) => {
      const isText = column < 2 || column === last;
      return isText ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!);
    })
    .join('  ')
    .trimEnd();
}

function toText(value: number): string {
  const fractionDigits = Math.abs(value) < 100 ? 1 : 0;
  return value.toLocaleString('en', {
    minimumFractionDigits: fractionDigits,
    maximumFractionDigits: fractionDigits,
  });
}
