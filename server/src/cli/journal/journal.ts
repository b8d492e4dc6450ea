/** `espalier journal`: lists changes with their author and the previous values. */

import { setTimeout as delay } from 'node:timers/promises';
import type { EspalierError } from '@espalier/client';
import { formatJournalCsvRow, journalCsvHeader } from '@espalier/contract';
import { isClientError } from '../failures.ts';
import { systemClock } from '../../clock.ts';
import { wholeNumber } from '../../config/setting.ts';
import { apiCommand } from '../api/connection.ts';
import { itemsOf, listReader, pageInfo, pagesOf, type ReadPage } from '../api/pages.ts';
import { json, type Group } from '../command.ts';
import { formatJson, print } from '../terminal/output.ts';
import { entryFields, heading, toLine, type Entry } from './entry.ts';
import { filterOptions, readFilter } from './filter.ts';
import { followJournal } from './follow.ts';

const query = `query ($filter: JournalFilter, $first: Int, $after: String) {
  list: journal(filter: $filter, first: $first, after: $after) { items { ${entryFields} } ${pageInfo} }
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
      about: 'Print the latest entries (see -n), oldest first, then each new entry until Ctrl-C',
      conflicts: ['all', 'until'],
    },
    csv: { about: 'Print CSV', conflicts: ['json'] },
    json: { ...json, about: 'Print a JSON array, or with --follow one JSON object per line' },
  },
  details: `For administrators. Shows the latest entries first. An entry must match all filters. Run 'espalier docs journal'
for the fields of each kind. CSV output puts an apostrophe before names that a spreadsheet would treat as a formula.`,
  examples: [
    'espalier journal --kind move-folder --from 7d',
    'espalier journal --by anna --folder /Places --json',
    'espalier journal --follow',
    'espalier journal --all --csv > journal.csv',
  ],
  validate: ({ options }) => void readFilter(options, systemClock.now()),
  async run(connection, { options }) {
    const { all, follow, csv, first = defaultCount } = options;
    const maxItems = all ? Infinity : first;
    const format = csv ? 'csv' : options.json ? 'ndjson' : 'lines';
    const filter = await readFilter(options, systemClock.now())(connection);
    const read = listReader<Entry>(connection, query, { filter });
    if (follow) return printFollowed(formats[format], read, { first, signal: connection.signal });
    return {
      items: itemsOf(read, { maxItems }),
      lines: linesOf(formats[format], pagesOf(read, { maxItems })),
      whenNone: 'No entries found.',
    };
  },
});

export const journal: Group = { commands: { list }, groupDefault: 'list' };

interface Format {
  readonly heading?: string;
  readonly toLine: (entry: Entry) => string;
}

const formats = {
  lines: { heading, toLine },
  csv: { heading: journalCsvHeader, toLine: formatJournalCsvRow },
  ndjson: { toLine: (entry: Entry) => formatJson(entry) },
} as const satisfies Record<string, Format>;

async function* linesOf(format: Format, pages: AsyncIterable<readonly Entry[]>): AsyncGenerator<string> {
  let { heading } = format;
  for await (const entries of pages) {
    // CSV has its header even without entries.
    if (heading !== undefined && (entries.length > 0 || format === formats.csv)) {
      yield heading;
      heading = undefined;
    }
    yield* entries.map(format.toLine);
  }
}

async function printFollowed(
  format: Format,
  read: ReadPage<Entry>,
  { first, signal }: { readonly first: number; readonly signal: AbortSignal },
): Promise<void> {
  let isReported = false;
  const entries = followJournal(read, {
    first,
    pause: () => delay(pollMs, undefined, { signal }),
    onError(error) {
      if (signal.aborted || !(isClientError(error) && isTemporary(error))) throw error;
      if (!isReported) console.error(`espalier: ${error.message} Retrying.`);
      isReported = true;
    },
    onReplaced: () =>
      console.error('espalier: The server has a new journal, for example after a restored backup.'),
  });
  for await (const line of linesOf(format, entries)) {
    isReported = false;
    await print(line);
  }
}

/** The server may be restarting. The next successful poll reads all entries since the last one. */
function isTemporary({ code }: EspalierError): boolean {
  return code === 'UNREACHABLE' || code === 'UNAVAILABLE';
}
