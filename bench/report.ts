/** Formats results as a table for a terminal, as Markdown and as JSON. */

import { availableParallelism, cpus, release, totalmem, type } from 'node:os';
import { summarize, type Result, type Scenario, type Series } from './scenario.ts';
import { databaseNames } from './site.ts';

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
      const ratios = baseline && summarize(divideByBaseline({ label, values }, baseline));
      const compared = index === 0 ? '' : compare(series[0]!, series[index]!);
      return [
        scenario,
        viewer,
        database,
        label,
        format(summarize(values).median),
        unit,
        ratios ? ratios.median.toFixed(2) : '',
        ratios ? `${ratios.min.toFixed(2)} to ${ratios.max.toFixed(2)}` : formatRange(values),
        compared,
      ];
    }),
  );
}

/** Compares the first subject with another. They are equal if their ranges overlap. */
export function compare(first: Series, other: Series): string {
  const [one, two] = [summarize(first.values), summarize(other.values)];
  if (one.min <= two.max && two.min <= one.max) return 'equal';
  return `${first.label} is ${(one.median / two.median).toFixed(2)} times this value`;
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

/** bench/RESULTS.md: a summary, which README repeats, and every result. */
export function createResultsPage(results: readonly Result[], run: ResultsRun): string {
  return `# Benchmark results

Written by \`npm run bench -- --results\` on ${run.date}, with ${run.rounds} rounds. [README.md](README.md) explains the figures.

${describeMachine()}

## Summary

CPU time as a multiple of a minimal \`node:http\` server that returns the same response, for requests of an administrator. On PostgreSQL,
the figure includes the CPU time of the database.

${createSummaryTable(results, run.scenarios)}

## All results

${formatMarkdownTable([header, ...toRows(results)])}
`;
}

interface ResultsRun {
  readonly scenarios: readonly Scenario[];
  readonly rounds: number;
  readonly date: string;
}

/** Has a row for each unit of each scenario, and a column for each database. */
function createSummaryTable(results: readonly Result[], scenarios: readonly Scenario[]): string {
  const administratorResults = results.filter(({ viewer = 'administrator' }) => viewer === 'administrator');
  const lines = scenarios.flatMap(({ name, about }) => {
    const units = new Set(
      administratorResults.filter(({ scenario }) => scenario === name).map(({ unit }) => unit),
    );
    return [...units].map((unit) => {
      const cells = databaseNames.map((database) => {
        const isCell = (each: Result) =>
          each.scenario === name && each.unit === unit && each.database === database;
        const result = administratorResults.find(isCell);
        return result ? formatSummaryCell(result) : '';
      });
      return [about, `\`${name}\``, ...cells];
    });
  });
  return formatMarkdownTable([['What', 'Scenario', 'SQLite', 'PostgreSQL'], ...lines]);
}

function formatSummaryCell({ series: [first], unit, baseline }: Result): string {
  const { median } = summarize(first!.values);
  if (!baseline) return `${format(median)} ${unit}`;
  return summarize(divideByBaseline(first!, baseline)).median.toFixed(2);
}

function formatMarkdownTable([first, ...rest]: readonly (readonly string[])[]): string {
  const toLine = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [first!, first!.map(() => '---'), ...rest].map(toLine).join('\n');
}

function divideByBaseline({ values }: Series, baseline: Series): number[] {
  return values.map((value, round) => value / baseline.values[round]!);
}

export function toJson(results: readonly Result[]): string {
  const summarized = results.map((result) => ({
    ...result,
    series: result.series.map((each) => ({ ...each, ...summarize(each.values) })),
  }));
  return `${JSON.stringify({ machine: describeMachine(), results: summarized }, null, 2)}\n`;
}

/** Describes the hardware, without anything that identifies the machine. */
export function describeMachine(): string {
  const memory = Math.round(totalmem() / 2 ** 30);
  const processor = cpus()[0]?.model.trim() ?? 'unknown';
  return `${availableParallelism()} cores (${processor}), ${memory} GiB of memory, ${type()} ${release().replace(/-.*/, '')}, Node ${process.versions.node}.`;
}

function formatRange(values: readonly number[]): string {
  const { min, max } = summarize(values);
  return values.length > 1 ? `${format(min)} to ${format(max)}` : '';
}

function format(value: number): string {
  const digits = Math.abs(value) < 100 ? 1 : 0;
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
