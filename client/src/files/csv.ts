/**
 * Reads and writes CSV as defined by RFC 4180, with any line endings. It uses no library, because libraries guess separators and
 * types, and importing an export must not change the folders. If a spreadsheet would run a cell as a formula, the cell is
 * written with an apostrophe. Reading removes the apostrophe.
 */

import { escapeFormula, formatCsvRow, unescapeFormula } from '@espalier/contract';
import { FileError } from './file-error.ts';

export interface CsvRow {
  /** The number of the row's first line in the text, starting with 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

/** Skips empty lines. */
export function* parseCsv(text: string): Generator<CsvRow> {
  let line = 1;
  let startLine = 1;
  let cells: string[] = [];
  // Matches a cell with its end: a comma, the end of the line or the end of the text.
  const cell = /(?:"([^"]*(?:""[^"]*)*)"|([^",\r\n]*))(,|\r\n|\n|\r|$)/y;
  cell.lastIndex = text.startsWith('\ufeff') ? 1 : 0;
  while (cell.lastIndex < text.length || cells.length > 0) {
    const match = cell.exec(text);
    if (!match) throw new FileError(`Line ${line}: a quote is misplaced or not closed.`);
    const [, quoted, plain, end] = match;
    cells.push(unescapeFormula(quoted === undefined ? plain! : quoted.replaceAll('""', '"')));
    line += countLines(quoted ?? '');
    if (end === ',') continue;
    line++;
    if (cells.length > 1 || cells[0] !== '' || quoted !== undefined) yield { line: startLine, cells };
    startLine = line;
    cells = [];
  }
}

function countLines(text: string): number {
  return text.match(/\r\n|\n|\r/g)?.length ?? 0;
}

export function formatCsvLine(cells: readonly string[]): string {
  return `${formatCsvRow(cells.map(escapeFormula))}\r\n`;
}
