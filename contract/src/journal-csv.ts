/** The CSV format of the journal (RFC 4180 with a header row), shared by the command line and the console. */

import { escapeFormula, formatCsvRow } from './csv.ts';
import { formatJson, escapeControls } from './escaped-text.ts';

/** The fields of a journal entry that a row contains. */
export interface JournalCsvEntry {
  readonly number: number;
  readonly at: string;
  readonly kind: string;
  readonly byId: string | null;
  readonly by: { readonly username: string } | null;
  readonly byApiKeyId: string | null;
  readonly byApiKey: { readonly name: string } | null;
  readonly folderId: string | null;
  readonly folder: { readonly path: string } | null;
  /** The path at the time of the change. Null in entries of older versions. */
  readonly path: string | null;
  readonly formerPath: string | null;
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
  byApiKeyId: ({ byApiKeyId }) => byApiKeyId,
  byApiKey: ({ byApiKey }) => byApiKey?.name,
  folderId: ({ folderId }) => folderId,
  path: ({ path, folder }) => path ?? folder?.path,
  formerPath: ({ formerPath }) => formerPath,
  userId: ({ userId }) => userId,
  user: ({ user }) => user?.username,
  groupId: ({ groupId }) => groupId,
  group: ({ group }) => group?.name,
  sessionId: ({ sessionId }) => sessionId,
  before: ({ before }) => before && formatJson(before),
  after: ({ after }) => after && formatJson(after),
};

/** The header row, without a line ending. */
export const journalCsvHeader = Object.keys(columns).join(',');

/** Returns a row without a line ending. */
export function formatJournalCsvRow(entry: JournalCsvEntry): string {
  return formatCsvRow(Object.values(columns).map((readCell) => formatCell(readCell(entry))));
}

function formatCell(value: Cell): string {
  const text = escapeControls(String(value ?? ''));
  return typeof value === 'string' ? escapeFormula(text) : text;
}
