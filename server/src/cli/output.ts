/** Prints to standard output, with backpressure. Stops printing after the reader has closed the pipe. */

import { constants } from 'node:os';
import { formatJson } from '@espalier/contract';
import { ExitError } from './failures.ts';

export { formatJson };
export { escapeControls, escapeLines } from './escape-text.ts';

/** A closed pipe must not stop the command halfway. */
export function ignoreReaders(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

/** Lines, with an end of line after the last. */
export function print(text: string): Promise<void> {
  return write(`${text}\n`);
}

/** Prints the text unchanged. */
export async function write(text: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(whyNotPrinted(error)) : resolve()));
  });
}

/** For people on a terminal, over several lines; for programs in one. */
export async function printJson(value: unknown, { isCompact = !process.stdout.isTTY } = {}): Promise<void> {
  await print(formatJson(value, isCompact ? undefined : 2));
}

/** One array, an item a line, each as it comes: there may be very many. */
export async function printJsonList(items: AsyncIterable<unknown>): Promise<void> {
  const lines = createLines();
  let isFirst = true;
  for await (const item of items) {
    await lines.add(`${isFirst ? '[' : ','}\n${formatJson(item)}`);
    isFirst = false;
  }
  await lines.end(isFirst ? '[]\n' : '\n]\n');
}

/** A line for each, as they come. */
export async function printLines(lines: AsyncIterable<string>): Promise<void> {
  const printed = createLines();
  for await (const line of lines) await printed.add(`${line}\n`);
  await printed.end();
}

const portion = 16 * 1024;

/** Writes in portions: a write for each of a million lines takes longer than all the rest. */
export function createLines(to: (text: string) => Promise<void> = write) {
  let waiting = '';
  const flush = async () => {
    const text = waiting;
    waiting = '';
    if (text) await to(text);
  };
  return {
    async add(text: string): Promise<void> {
      waiting += text;
      if (waiting.length >= portion || process.stdout.isTTY) await flush();
    },
    async end(text = ''): Promise<void> {
      waiting += text;
      await flush();
    },
  };
}

/** As the shell sees a program that a closed pipe has ended; a disk may be full, too. */
function whyNotPrinted(error: NodeJS.ErrnoException): ExitError {
  if (error.code === 'EPIPE') return new ExitError(128 + constants.signals.SIGPIPE);
  return new ExitError(1, `The output cannot be written: ${error.message}.`);
}

/** Prints a table with headings. An empty cell is a dash. Without rows, prints `whenNone`. */
export function table(
  headings: readonly string[],
  rows: readonly (readonly (string | null)[])[],
  whenNone?: string,
): string {
  if (rows.length === 0 && whenNone !== undefined) return whenNone;
  const lines = [headings, ...rows.map((cells) => cells.map((cell) => cell || '-'))];
  const widths = headings.map((_, column) =>
    Math.max(...lines.map((cells) => [...(cells[column] ?? '')].length)),
  );
  const pad = (cell: string, column: number) => cell + ' '.repeat(widths[column]! - [...cell].length);
  return lines.map((cells) => cells.map(pad).join('  ').trimEnd()).join('\n');
}
