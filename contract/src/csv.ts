/** Rows and cells of the CSV files that Espalier writes (RFC 4180), shared by the journal and by exports of folders. */

/** Formats a row of any CSV file, without a line ending. */
export function formatCsvRow(cells: readonly string[]): string {
  return cells.map(quoteCell).join(',');
}

/** Also quotes cells with leading or trailing spaces, because some programs trim unquoted cells. */
function quoteCell(text: string): string {
  return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The first characters of formulas in spreadsheets: https://owasp.org/www-community/attacks/CSV_Injection. */
const formula = /^'*[=+\-@\t\r\n＝＋－＠]/;

/**
 * Prefixes a formula with an apostrophe, so that a spreadsheet does not run text from another user. Also prefixes a formula
 * that already has an apostrophe, so that `unescapeFormula` returns every text unchanged.
 */
export function escapeFormula(text: string): string {
  return formula.test(text) ? `'${text}` : text;
}

/** Removes the apostrophe that `escapeFormula` adds. */
export function unescapeFormula(cell: string): string {
  return cell.startsWith("'") && formula.test(cell) ? cell.slice(1) : cell;
}
