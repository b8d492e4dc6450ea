/** Exports the filtered journal as CSV, page by page, so that it can report progress and be stopped. */

import { EspalierError } from '@espalier/client';
import { journalCsvHeader, formatJournalCsvRow, type JournalCsvEntry } from '@espalier/contract';
import type { JournalFilter } from './journal-filter.ts';

export const exportDocument = /* GraphQL */ `
  query JournalToExport($filter: JournalFilter, $first: Int, $after: String, $isFirst: Boolean!) {
    journal(filter: $filter, first: $first, after: $after) {
      totalCount @include(if: $isFirst)
      items {
        number
        at
        kind
        byId
        by {
          username
        }
        byApiKeyId
        byApiKey {
          name
        }
        folderId
        folder {
          path
        }
        path
        formerPath
        userId
        user {
          username
        }
        groupId
        group {
          name
        }
        sessionId
        before
        after
      }
      pageInfo {
        hasNextPage
        endCursor
      }
    }
  }
`;

export interface ExportVariables {
  readonly filter: JournalFilter;
  readonly first: number;
  readonly after: string | null;
  readonly isFirst: boolean;
}

export interface ExportPage {
  readonly journal: {
    readonly totalCount?: number;
    readonly items: readonly JournalCsvEntry[];
    readonly pageInfo: { readonly hasNextPage: boolean; readonly endCursor: string | null };
  };
}

export interface Progress {
  readonly done: number;
  readonly total: number;
}

/** The server's maximum page size. */
const maxPageSize = 1_000;

const lineOf = (row: string) => `${row}\r\n`;

/** Returns the parts of the file. Rejects if a request fails or is aborted. */
export async function exportJournal(
  filter: JournalFilter,
  readPage: (variables: ExportVariables) => Promise<ExportPage>,
  onProgress: (progress: Progress) => void,
): Promise<readonly string[]> {
  const parts = [lineOf(journalCsvHeader)];
  let first = maxPageSize;
  let after: string | null = null;
  let done = 0;
  let total = 0;
  for (;;) {
    const isFirst = done === 0;
    let page: ExportPage['journal'];
    try {
      page = (await readPage({ filter, first, after, isFirst })).journal;
    } catch (error) {
      // Long texts or a low limit make a page too expensive. All remaining pages get half the size.
      if (!(error instanceof EspalierError && error.code === 'TOO_EXPENSIVE') || first === 1) throw error;
      first = Math.ceil(first / 2);
      continue;
    }
    parts.push(page.items.map((entry) => lineOf(formatJournalCsvRow(entry))).join(''));
    done += page.items.length;
    // Only the first page has a total. Later entries and pruning do not change it.
    total = Math.max(page.totalCount ?? total, done);
    onProgress({ done, total });
    after = page.pageInfo.endCursor;
    if (!page.pageInfo.hasNextPage || after === null) return parts;
  }
}
