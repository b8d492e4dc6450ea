/** A table as Markdown has it; prettier gives it its widths. */

import { format } from 'prettier';

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
export async function formatPage(path: string, written: string): Promise<string> {
  return path.endsWith('.md') ? format(written, { parser: 'markdown' }) : written;
}
