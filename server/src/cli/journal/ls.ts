/** `espalier journal ls`: lists changes with their author and the previous values. */

import { setTimeout as delay } from 'node:timers/promises';
import { EspalierError } from '@espalier/client';
import { systemClock } from '../../clock.ts';
import { UsageError } from '../../config/start-error.ts';
import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { pageInfo, pagesOf, type Page, type ReadPage } from '../api/pages.ts';
import type { ApiConnection } from '../api/resolve-names.ts';
import { entryFields, type Entry } from './entry.ts';
import { EntryWriter } from './entry-writer.ts';
import { followed } from './follow.ts';
import { filterOptions, readFilter, type JournalFilter } from './journal-filter.ts';

const query = `query ($filter: JournalFilter, $first: Int, $after: String) {
  journal(filter: $filter, first: $first, after: $after) { items { ${entryFields} } ${pageInfo} }
}`;
const defaultCount = 50;
const pollMs = 2_000;

export const listJournal = command({
  options: {
    ...filterOptions,
    first: { value: 'number', short: 'n', about: `The maximum number of entries; default: ${defaultCount}` },
    all: { about: 'Show all stored entries' },
    follow: { short: 'f', about: 'Print new entries until Ctrl-C, the oldest first' },
    csv: { about: 'Print CSV' },
    json: { ...json, about: 'Print a JSON array, or with --follow one JSON object per line' },
  },
  settings: connectionSettings,
  details: `For administrators. Shows the latest entries first. An entry must match all filters. See docs/journal.md for the fields of
each kind. In CSV, a name that a spreadsheet would treat as a formula starts with an apostrophe.`,
  async run({ options, flags }) {
    const { all, follow, csv, json: isJson } = options;
    if (csv && isJson) throw new UsageError('Use either --csv or --json, not both.');
    if (all && options.first !== undefined) throw new UsageError('Use either --all or --first, not both.');
    if (follow && (all || options.until !== undefined)) {
      throw new UsageError('--follow has no end and cannot be combined with --all or --until.');
    }
    const count = all ? Infinity : toCount(options.first);
    const filterFor = readFilter(options, systemClock.now());
    const writer = new EntryWriter(csv ? 'csv' : !isJson ? 'lines' : follow ? 'ndjson' : 'json');
    await withConnection({ flags }, async (connection) => {
      const read = readerOf(connection, await filterFor(connection));
      if (follow) await printFollowed(read, writer, { count, signal: connection.signal });
      else await printPages(read, writer, count);
    });
  },
});

function toCount(text: string | undefined): number {
  if (text === undefined) return defaultCount;
  if (!/^\d{1,9}$/.test(text))
    throw new UsageError(`--first takes a whole number, not ${JSON.stringify(text)}.`);
  return Number(text);
}

function readerOf({ client, signal }: ApiConnection, filter: JournalFilter): ReadPage<Entry> {
  return async (slice) => {
    const variables = { filter, ...slice };
    return (await client.query<{ journal: Page<Entry> }>(query, variables, { signal })).journal;
  };
}

async function printPages(read: ReadPage<Entry>, writer: EntryWriter, maxItems: number): Promise<void> {
  for await (const entries of pagesOf(read, { maxItems })) await writer.write(entries);
  await writer.end();
}

async function printFollowed(
  read: ReadPage<Entry>,
  writer: EntryWriter,
  { count, signal }: { readonly count: number; readonly signal: AbortSignal },
): Promise<void> {
  let isReported = false;
  const entries = followed(read, {
    first: count,
    pause: () => delay(pollMs, undefined, { signal }),
    onError(error) {
      if (signal.aborted || !(error instanceof EspalierError && isPassing(error))) throw error;
      if (!isReported) console.error(`espalier: ${error.message} Retrying.`);
      isReported = true;
    },
    onReplaced: () =>
      console.error('espalier: The server has a new journal, for example after a restored backup.'),
  });
  for await (const some of entries) {
    isReported = false;
    await writer.write(some);
  }
}

/** The server may be restarting. The next successful poll reads all entries since the last one. */
function isPassing({ code }: EspalierError): boolean {
  return code === 'UNREACHABLE' || code === 'UNAVAILABLE';
}
