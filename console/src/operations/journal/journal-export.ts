/** All entries that a filter finds, as a CSV file: read page by page, so that it can be followed and stopped. */

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
        folderId
        folder {
          path
        }
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

/** The server gives no more at once. */
const mostPageSize = 1_000;

const lineOf = (row: string) => `${row}\r\n`;

/** The parts of the file; those of a long journal are many. Rejects when the asking does, as when it is aborted. */
export async function exportJournal(
  filter: JournalFilter,
  ask: (variables: ExportVariables) => Promise<ExportPage>,
  tell: (progress: Progress) => void,
): Promise<readonly string[]> {
  const parts = [lineOf(journalCsvHeader)];
  let first = mostPageSize;
  let after: string | null = null;
  let done = 0;
  let total = 0;
  for (;;) {
    const isFirst = done === 0;
    let page: ExportPage['journal'];
    try {
      page = (await ask({ filter, first, after, isFirst })).journal;
    } catch (error) {
      // Long texts, or a small budget: half as many at once, from here on.
      if (!(error instanceof EspalierError && error.code === 'TOO_EXPENSIVE') || first === 1) throw error;
      first = Math.ceil(first / 2);
      continue;
    }
    parts.push(page.items.map((entry) => lineOf(formatJournalCsvRow(entry))).join(''));
    done += page.items.length;
    // What has been forgotten or written since the count is not told of.
    total = Math.max(page.totalCount ?? total, done);
    tell({ done, total });
    after = page.pageInfo.endCursor;
    if (!page.pageInfo.hasNextPage || after === null) return parts;
  }
}
