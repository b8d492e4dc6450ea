/** `espalier journal`: lists changes with their author and the previous values. */

import { setTimeout as delay } from 'node:timers/promises';
import { EspalierError } from '@espalier/client';
import { systemClock } from '../../clock.ts';
import { wholeNumber } from '../../config/setting.ts';
import { apiCommand } from '../api/connection.ts';
import { pageInfo, pagesOf, type Page, type ReadPage } from '../api/pages.ts';
import type { ApiConnection } from '../api/resolve-names.ts';
import { json, type Group } from '../command.ts';
import { entryFields, EntryWriter, type Entry } from './entry.ts';
import { filterOptions, readFilter, type JournalFilter } from './filter.ts';
import { followed } from './follow.ts';

const query = `query ($filter: JournalFilter, $first: Int, $after: String) {
  journal(filter: $filter, first: $first, after: $after) { items { ${entryFields} } ${pageInfo} }
}`;
const defaultCount = 50;
const pollMs = 2_000;

const list = apiCommand({
  about: 'List changes with their author and the previous values, or follow them',
  aliases: ['ls'],
  options: {
    ...filterOptions,
    first: {
      value: 'number',
      short: 'n',
      about: `The maximum number of entries; default: ${defaultCount}`,
      kind: wholeNumber(0, 1e9),
    },
    all: { about: 'Show all stored entries', conflicts: ['first'] },
    follow: {
      short: 'f',
      about: 'Print new entries until Ctrl-C, the oldest first',
      conflicts: ['all', 'until'],
    },
    csv: { about: 'Print CSV', conflicts: ['json'] },
    json: { ...json, about: 'Print a JSON array, or with --follow one JSON object per line' },
  },
  details: `For administrators. Shows the latest entries first. An entry must match all filters. See espalier docs journal for the fields
of each kind. In CSV, a name that a spreadsheet would treat as a formula starts with an apostrophe.`,
  examples: [
    'espalier journal --kind move-folder --from 7d',
    'espalier journal --by anna --folder /Places --json',
    'espalier journal --follow',
    'espalier journal --all --csv > journal.csv',
  ],
  validate: ({ options }) => void readFilter(options, systemClock.now()),
  async run(connection, { options }) {
    const { all, follow, csv, json: isJson, first = defaultCount } = options;
    const count = all ? Infinity : first;
    const writer = new EntryWriter(csv ? 'csv' : !isJson ? 'lines' : follow ? 'ndjson' : 'json');
    const filter = await readFilter(options, systemClock.now())(connection);
    const read = readerOf(connection, filter);
    if (follow) await printFollowed(read, writer, { count, signal: connection.signal });
    else await printPages(read, writer, count);
  },
});

export const journal: Group = { commands: { list }, groupDefault: 'list' };

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
