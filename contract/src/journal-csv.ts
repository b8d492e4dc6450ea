/** The journal for spreadsheets: RFC 4180, with a row of headings; the same from the command line and from the console. */

import { jsonText, escapeControls } from './shown-text.ts';

/** What a row needs of an entry. */
export interface JournalCsvEntry {
  readonly number: number;
  readonly at: string;
  readonly kind: string;
  readonly byId: string | null;
  readonly by: { readonly username: string } | null;
  readonly folderId: string | null;
  readonly folder: { readonly path: string } | null;
  readonly userId: string | null;
  readonly user: { readonly username: string } | null;
  readonly groupId: string | null;
  readonly group: { readonly name: string } | null;
  readonly sessionId: string | null;
  readonly before: Readonly<Record<string, unknown>> | null;
  readonly after: Readonly<Record<string, unknown>> | null;
}

type Cell = string | number | null | undefined;

const columns: Readonly<Record<string, (entry: JournalCsvEntry) => Cell>> = {
  number: ({ number }) => number,
  at: ({ at }) => at,
  kind: ({ kind }) => kind,
  byId: ({ byId }) => byId,
  by: ({ by }) => by?.username,
  folderId: ({ folderId }) => folderId,
  folder: ({ folder }) => folder?.path,
  userId: ({ userId }) => userId,
  user: ({ user }) => user?.username,
  groupId: ({ groupId }) => groupId,
  group: ({ group }) => group?.name,
  sessionId: ({ sessionId }) => sessionId,
  before: ({ before }) => before && jsonText(before),
  after: ({ after }) => after && jsonText(after),
};

/** Without the end of the line. */
export const journalCsvHeading = Object.keys(columns).join(',');

/** Without the end of the line. */
export function journalCsvRow(entry: JournalCsvEntry): string {
  return csvRow(Object.values(columns).map((cellOf) => harmless(cellOf(entry))));
}

/** A name that others chose must not become a formula where the file is opened: an apostrophe makes it a text. */
function harmless(value: Cell): string {
  const text = escapeControls(String(value ?? ''));
  return typeof value === 'string' && /^[=+\-@]/.test(text) ? `'${text}` : text;
}

/** A line of any CSV, without its end. */
export function csvRow(cells: readonly string[]): string {
  return cells.map(csvCell).join(',');
}

/** Spaces at an end are part of a cell, but not every program keeps them without quotes. */
function csvCell(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
