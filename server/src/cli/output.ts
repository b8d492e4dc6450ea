/** What commands print: data on standard output, waited for until it is taken, and nothing once nobody reads it. */

import { constants } from 'node:os';
import { ExitError } from './failures.ts';

/** Whoever reads what is printed may leave: no reason to stop in the middle of something. */
export function ignoreReaders(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

/** Lines, with an end of line after the last. */
export async function print(text: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(`${text}\n`, (error) => (error ? reject(whyNotPrinted(error)) : resolve()));
  });
}

export async function printJson(value: unknown): Promise<void> {
  await print(JSON.stringify(value, null, process.stdout.isTTY ? 2 : undefined));
}

/** As the shell sees a program that a closed pipe has ended; a disk may be full, too. */
function whyNotPrinted(error: NodeJS.ErrnoException): ExitError {
  if (error.code === 'EPIPE') return new ExitError(128 + constants.signals.SIGPIPE);
  return new ExitError(1, `The output cannot be written: ${error.message}.`);
}

/** Columns with their headings; what is empty is a dash. */
export function table(headings: readonly string[], rows: readonly (readonly (string | null)[])[]): string {
  const lines = [headings, ...rows.map((cells) => cells.map((cell) => cell || '-'))];
  const widths = headings.map((_, column) =>
    Math.max(...lines.map((cells) => [...(cells[column] ?? '')].length)),
  );
  const pad = (cell: string, column: number) => cell + ' '.repeat(widths[column]! - [...cell].length);
  return lines.map((cells) => cells.map(pad).join('  ').trimEnd()).join('\n');
}
