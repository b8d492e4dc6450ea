/** Formats Markdown tables and pages. */

import { format } from 'prettier';

export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
export async function formatPage(path: string, text: string): Promise<string> {
  return path.endsWith('.md') ? format(text, { parser: 'markdown' }) : text;
}
