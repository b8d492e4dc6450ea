/**
 * A reporter for `node --test`. It counts tests by database, using the database names in their titles, and
 * lists tests that run on one database only. https://nodejs.org/api/test.html#custom-reporters
 */

import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { databaseKinds } from '../support/databases.ts';

type Outcome = 'passed' | 'failed' | 'skipped';

interface TestResult {
  readonly outcome: Outcome;
  readonly file: string;
  /** Titles from the outermost suite to the test. */
  readonly titles: readonly string[];
}

const outcomes: readonly Outcome[] = ['passed', 'failed', 'skipped'];
const names = databaseKinds.map(({ name }) => name);

// oxlint-disable-next-line import/no-default-export -- node --test requires it
export default async function* countReporter(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const results: TestResult[] = [];
  const titles: string[] = [];
  for await (const { type, data } of events) {
    if (type === 'test:start') titles.splice(data.nesting, Infinity, data.name);
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const outcome = data.skip || data.todo ? 'skipped' : type === 'test:pass' ? 'passed' : 'failed';
    // Counts a suite only if one of its hooks failed; its tests are counted separately.
    if (data.details.type === 'suite' && !(outcome === 'failed' && hasFailedHook(data.details))) continue;
    results.push({ outcome, file: data.file ?? '', titles: titles.slice(0, data.nesting + 1) });
  }
  yield* formatTable(results);
  // Prints no lists if the run selects the tests of one database.
  const databases = new Set(results.map(({ titles }) => databaseOf(titles)));
  if (names.every((name) => databases.has(name))) for (const name of names) yield* listOnlyOn(name, results);
}

function hasFailedHook(details: object): boolean {
  return 'error' in details && (details.error as { failureType?: string }).failureType === 'hookFailed';
}

function* formatTable(results: readonly TestResult[]): Generator<string> {
  const width = Math.max(...names.map(({ length }) => length), 'no database'.length);
  const line = (...cells: (string | number)[]) =>
    `${cells.map((cell, column) => (column ? String(cell).padStart(9) : String(cell).padEnd(width))).join('')}\n`;
  yield `\n${line('Tests on', ...outcomes)}`;
  for (const name of [...names, undefined]) {
    const databaseResults = results.filter(({ titles }) => databaseOf(titles) === name);
    const counts = outcomes.map(
      (outcome) => databaseResults.filter((each) => each.outcome === outcome).length,
    );
    yield line(name ?? 'no database', ...counts);
  }
}

/** Lists tests that run on no other database, grouped by their outermost suite. */
function* listOnlyOn(name: string, results: readonly TestResult[]): Generator<string> {
  const keysElsewhere = new Set(results.filter(({ titles }) => databaseOf(titles) !== name).map(keyOf));
  const exclusiveResults = results.filter(
    (each) => databaseOf(each.titles) === name && !keysElsewhere.has(keyOf(each)),
  );
  if (exclusiveResults.length === 0) return;
  yield `\nOnly on ${name}: ${exclusiveResults.length}\n`;
  const suites = Map.groupBy(exclusiveResults, ({ file, titles }) => `${relative('', file)}: ${titles[0]}`);
  for (const [suite, tests] of suites) yield `  ${tests.length} of ${suite}\n`;
}

function databaseOf(titles: readonly string[]): string | undefined {
  return names.find((name) => titles.some((title) => matchTitlesOn(name).test(title)));
}

/** Returns the same key for the same test on another database. */
function keyOf({ file, titles }: TestResult): string {
  const neutralTitles = titles.map((title) =>
    names.reduce((text, name) => text.replace(matchTitlesOn(name), '$1on …'), title),
  );
  return JSON.stringify([file, ...neutralTitles]);
}

function matchTitlesOn(name: string): RegExp {
  return new RegExp(`(^| )on ${name}\\b`);
}
