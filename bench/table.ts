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
  return alignLines(cells, 2, 6);
}

/** Texts, which come first and may come last, to the left; numbers to the right. */
export function alignLines(
  lines: readonly (readonly string[])[],
  texts: number,
  lastText = Infinity,
): string {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((line) => line[column]!.length)));
  const toLine = (line: readonly string[]) =>
    line
      .map((cell, column) => {
        const isText = column < texts || column >= lastText;
        return isText ? cell.padEnd(widths[column]!) : cell.padStart(widths[column]!);
      })
      .join('  ')
      .trimEnd();
  return lines.map(toLine).join('\n');
}

function toText(value: number): string {
  const fractionDigits = Math.abs(value) < 100 ? 1 : 0;
  return value.toLocaleString('en', {
    minimumFractionDigits: fractionDigits,
    maximumFractionDigits: fractionDigits,
  });
}
