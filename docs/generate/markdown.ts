/** Formats Markdown tables and pages. */

import { format } from 'oxfmt';
import options from '../../.oxfmtrc.json' with { type: 'json' };

export function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

/** Formats a page in the same way as `npm run format`. */
export async function formatPage(path: string, text: string): Promise<string> {
  if (!path.endsWith('.md')) return text;
  const { code, errors } = await format(path, text, {
    printWidth: options.printWidth,
    singleQuote: options.singleQuote,
  });
  if (errors.length > 0) throw new Error(`Cannot format ${path}: ${errors[0]!.message}`);
  return code;
}
