/** Results as a table for a terminal, as Markdown and as JSON. */

import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { summarise, type Result, type Series } from './scenario.ts';

const header = [
  'scenario',
  'viewer',
  'database',
  'subject',
  'median',
  'unit',
  'to baseline',
  'range',
  'compared',
];

export function toRows(results: readonly Result[]): string[][] {
  return results.flatMap(({ scenario, viewer = '', database = '', unit, series, baseline }) =>
    series.map(({ label, values }, index) => {
      const ratios = baseline && summarise(values.map((value, round) => value / baseline.values[round]!));
      const compared = index === 0 ? '' : compare(series[0]!, series[index]!);
      return [
        scenario,
        viewer,
        database,
        label,
        format(summarise(values).median),
        unit,
        ratios ? ratios.median.toFixed(2) : '',
        ratios ? `${ratios.min.toFixed(2)} to ${ratios.max.toFixed(2)}` : rangeOf(values),
        compared,
      ];
    }),
  );
}

/** The first subject relative to another; equal if their ranges overlap. */
export function compare(first: Series, other: Series): string {
  const [one, two] = [summarise(first.values), summarise(other.values)];
  if (one.min <= two.max && two.min <= one.max) return 'equal';
  return `${first.label} is ${(one.median / two.median).toFixed(2)} times this`;
}

export function toTable(results: readonly Result[]): string {
  const rows = [header, ...toRows(results)];
  const widths = header.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const isNumber = (column: number) => column === 4 || column === 6;
  return rows
    .map((row) =>
      row
        .map((cell, column) =>
          isNumber(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

export function toMarkdown(results: readonly Result[]): string {
  const rows = [header, header.map(() => '---'), ...toRows(results)];
  return rows.map((row) => `| ${row.join(' | ')} |`).join('\n');
}

export function toJson(results: readonly Result[]): string {
  const summarised = results.map((result) => ({
    ...result,
    series: result.series.map((each) => ({ ...each, ...summarise(each.values) })),
  }));
  return `${JSON.stringify({ machine: describeMachine(), results: summarised }, null, 2)}\n`;
}

/** What the machine can do, without anything that identifies it. */
export function describeMachine() {
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: `${type()} ${release()}`,
    node: process.versions.node,
  };
}

function rangeOf(values: readonly number[]): string {
  const { min, max } = summarise(values);
  return values.length > 1 ? `${format(min)} to ${format(max)}` : '';
}

function format(value: number): string {
  const digits = Math.abs(value) < 100 ? 1 : 0;
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
