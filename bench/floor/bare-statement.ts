/** What reading takes at the least: the statement by which ours has SQLite write the answer, and nobody who asks who reads. */

import { prepare } from '../../server/src/database/sqlite-text.ts';
import { textStatement, type FolderText, type TextParameters } from '../../server/src/folders/folder-text.ts';
import { openBareSqlite } from './bare-sqlite.ts';
import type { Respond } from './respond.ts';

export interface StatementInput {
  /** A copy of ours. */
  readonly file: string;
  readonly text: FolderText;
  readonly parameters: TextParameters;
}

export function respondByStatement({ file, text, parameters }: StatementInput): Respond {
  const { getText } = prepare(openBareSqlite(file), textStatement(text, { isQuick: true }));
  return () => getText(parameters)!;
}
