/** `espalier journal ls`: lists changes with their author and the previous values. */

import { setTimeout as delay } from 'node:timers/promises';
import { EspalierError } from '@espalier/client';
import { systemClock } from '../../clock.ts';
import { UsageError } from '../../config/start-error.ts';
import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../connection.ts';
import { pageInfo, pagesOf, type Page, type ReadPage } from '../pages.ts';
import type { Asking } from '../resolve-names.ts';
import { entryFields, type Entry } from './entry.ts';
import { EntryWriter } from './entry-writer.ts';
import { followed } from './follow.ts';
import { filterOptions, readFilter, type JournalFilter } from './journal-filter.ts';

const query = `query ($filter: JournalFilter, $first: Int, $after: String) {
  journal(filter: $filter, first: $first, after: $after) { items { ${entryFields} } ${pageInfo} }
}`;
const usualCount = 50;
const lookEveryMs = 2_000;

export const listJournal = command({
  options: {
    ...filterOptions,
    first: { value: 'number', short: 'n', about: `At most so many; ${usualCount} unless told` },
    all: { about: 'All that are kept' },
    follow: { short: 'f', about: 'Go on with what is done from now on, until Ctrl-C; the oldest first' },
    csv: { about: 'Print CSV, for spreadsheets' },
    json: { ...json, about: 'Print JSON, for programs: an array, or with --follow an object a line' },
  },
  settings: connectionSettings,
  details: `For administrators. The latest first; all of what is given must fit. docs/journal.md tells what each kind holds.
In CSV, a name that a spreadsheet would take for a formula has an apostrophe before it.`,
  async run({ options, flags }) {
    const { all, follow, csv, json: isJson } = options;
    if (csv && isJson) throw new UsageError('--csv and --json are both given: take one of them.');
    if (all && options.first !== undefined)
      throw new UsageError('--all and --first are both given: take one of them.');
    if (follow && (all || options.until !== undefined)) {
      throw new UsageError('--follow goes on without an end, and does not go with --all or --until.');
    }
    const count = all ? Infinity : toCount(options.first);
    const filterFor = readFilter(options, systemClock.now());
    const writer = new EntryWriter(csv ? 'csv' : !isJson ? 'lines' : follow ? 'ndjson' : 'json');
    await withConnection({ flags }, async (asking) => {
      const read = readerOf(asking, await filterFor(asking));
      if (follow) await printFollowed(read, writer, { count, signal: asking.signal });
      else await printPages(read, writer, count);
    });
  },
});

function toCount(text: string | undefined): number {
  if (text === undefined) return usualCount;
  if (!/^\d{1,9}$/.test(text))
    throw new UsageError(`--first takes a whole number, not ${JSON.stringify(text)}.`);
  return Number(text);
}

function readerOf({ client, signal }: Asking, filter: JournalFilter): ReadPage<Entry> {
  return async (slice) => {
    const variables = { filter, ...slice };
    return (await client.query<{ journal: Page<Entry> }>(query, variables, { signal })).journal;
  };
}

async function printPages(read: ReadPage<Entry>, writer: EntryWriter, most: number): Promise<void> {
  for await (const entries of pagesOf(read, { most })) await writer.write(entries);
  await writer.end();
}

async function printFollowed(
  read: ReadPage<Entry>,
  writer: EntryWriter,
  { count, signal }: { readonly count: number; readonly signal: AbortSignal },
): Promise<void> {
  let isTold = false;
  const entries = followed(read, {
    first: count,
    pause: () => delay(lookEveryMs, undefined, { signal }),
    onError(error) {
      if (signal.aborted || !(error instanceof EspalierError && isPassing(error))) throw error;
      if (!isTold) console.error(`espalier: ${error.message} Trying again.`);
      isTold = true;
    },
    onReplaced: () => console.error('espalier: The server has another journal now, as after a restore.'),
  });
  for await (const some of entries) {
    isTold = false;
    await writer.write(some);
  }
}

/** A server that is restarted comes back, and nothing is missed meanwhile. */
function isPassing({ code }: EspalierError): boolean {
  return code === 'UNREACHABLE' || code === 'UNAVAILABLE';
}
