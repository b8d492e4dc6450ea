/**
 * A reporter for `node --test`: how many tests ran on which database, by their titles, and which are on one database
 * only. https://nodejs.org/api/test.html#custom-reporters
 */

import { relative } from 'node:path';
import type { TestEvent } from 'node:test/reporters';
import { databaseKinds } from './databases.ts';

type Outcome = 'passed' | 'failed' | 'skipped';

interface Ended {
  readonly outcome: Outcome;
  readonly file: string;
  /** From the outermost suite to the test. */
  readonly titles: readonly string[];
}

const outcomes: readonly Outcome[] = ['passed', 'failed', 'skipped'];
const names = databaseKinds.map(({ name }) => name);

// eslint-disable-next-line import-x/no-default-export -- node --test asks for it
export default async function* countReporter(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const ended: Ended[] = [];
  const titles: string[] = [];
  for await (const { type, data } of events) {
    if (type === 'test:start') titles.splice(data.nesting, Infinity, data.name);
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    const outcome = data.skip || data.todo ? 'skipped' : type === 'test:pass' ? 'passed' : 'failed';
    // A suite counts if it failed by itself, and not by its tests.
    if (data.details.type === 'suite' && !(outcome === 'failed' && hasFailedHook(data.details))) continue;
    ended.push({ outcome, file: data.file ?? '', titles: titles.slice(0, data.nesting + 1) });
  }
  yield* tableOf(ended);
  // Whoever chose the tests of one database knows that they are.
  const used = new Set(ended.map(({ titles }) => databaseOf(titles)));
  if (names.every((name) => used.has(name))) for (const name of names) yield* onlyOn(name, ended);
}

function hasFailedHook(details: object): boolean {
  return 'error' in details && (details.error as { failureType?: string }).failureType === 'hookFailed';
}

function* tableOf(ended: readonly Ended[]): Generator<string> {
  const width = Math.max(...names.map(({ length }) => length), 'no database'.length);
  const line = (...cells: (string | number)[]) =>
    `${cells.map((cell, place) => (place ? String(cell).padStart(9) : String(cell).padEnd(width))).join('')}\n`;
  yield `\n${line('Tests on', ...outcomes)}`;
  for (const name of [...names, undefined]) {
    const counted = ended.filter(({ titles }) => databaseOf(titles) === name);
    const counts = outcomes.map((outcome) => counted.filter((each) => each.outcome === outcome).length);
    yield line(name ?? 'no database', ...counts);
  }
}

/** Tests that no other database has, by their outermost suites. */
function* onlyOn(name: string, ended: readonly Ended[]): Generator<string> {
  const elsewhere = new Set(ended.filter(({ titles }) => databaseOf(titles) !== name).map(keyOf));
  const only = ended.filter((each) => databaseOf(each.titles) === name && !elsewhere.has(keyOf(each)));
  if (only.length === 0) return;
  yield `\nOnly on ${name}: ${only.length}\n`;
  const suites = Map.groupBy(only, ({ file, titles }) => `${relative('', file)}: ${titles[0]}`);
  for (const [suite, tests] of suites) yield `  ${tests.length} of ${suite}\n`;
}

function databaseOf(titles: readonly string[]): string | undefined {
  return names.find((name) => titles.some((title) => titlesOn(name).test(title)));
}

/** The same for the same test on another database. */
function keyOf({ file, titles }: Ended): string {
  const neutral = titles.map((title) =>
    names.reduce((text, name) => text.replace(titlesOn(name), '$1on …'), title),
  );
  return JSON.stringify([file, ...neutral]);
}

function titlesOn(name: string): RegExp {
  return new RegExp(`(^| )on ${name}\\b`);
}
