/** The journal for spreadsheets: RFC 4180, with a row of headings. */

import { csvRow } from '../csv.ts';
import { jsonText, shown } from '../output.ts';
import type { Entry } from './entry.ts';

type Cell = string | number | null | undefined;

const columns: Readonly<Record<string, (entry: Entry) => Cell>> = {
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

export const csvHeading = Object.keys(columns).join(',');

export function toCsvRow(entry: Entry): string {
  return csvRow(Object.values(columns).map((cellOf) => harmless(cellOf(entry))));
}

/** A name that others chose must not become a formula where the file is opened: an apostrophe makes it a text. */
function harmless(value: Cell): string {
  const text = shown(String(value ?? ''));
  return typeof value === 'string' && /^[=+\-@]/.test(text) ? `'${text}` : text;
}
