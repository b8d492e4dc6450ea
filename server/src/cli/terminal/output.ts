/** Prints to standard output, with backpressure, and formats tables, facts and times. Stops after the reader has closed the pipe. */

import { constants } from 'node:os';
import { escapeControls, formatJson } from '@espalier/contract/escaped-text';
import { describeFileError } from '../../config/start-error.ts';
import { ExitError } from '../failures.ts';

export { escapeControls, formatJson };

/** A reader that closes the pipe must not stop the command halfway. */
export function ignoreOutputErrors(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
}

/** Prints the text with a line end. */
export function print(text: string): Promise<void> {
  return write(`${text}\n`);
}

/** Prints the text unchanged. */
export async function write(text: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(toOutputError(error)) : resolve()));
  });
}

/** Prints several lines on a terminal, otherwise one line. */
export async function printJson(value: unknown, { isCompact = !process.stdout.isTTY } = {}): Promise<void> {
  await print(formatJson(value, isCompact ? undefined : 2));
}

/** Prints an array with one item per line, in batches while the items arrive: there may be very many. */
export async function printJsonList(items: AsyncIterable<unknown>): Promise<void> {
  const lines = createLines();
  let isFirst = true;
  for await (const item of items) {
    await lines.add(`${isFirst ? '[' : ','}\n${formatJson(item)}`);
    isFirst = false;
  }
  await lines.end(isFirst ? '[]\n' : '\n]\n');
}

/** Prints lines while they arrive, immediately on a terminal and otherwise in batches. Without lines, a script gets no output. */
export async function printLines(lines: AsyncIterable<string>, whenNone: string): Promise<void> {
  const printed = createLines();
  let isEmpty = true;
  for await (const line of lines) {
    isEmpty = false;
    await printed.add(`${line}\n`);
  }
  await printed.end(isEmpty && process.stdout.isTTY ? `${whenNone}\n` : '');
}

const batchLength = 16 * 1024;

/** Writes in batches: one write per line would take most of the time for a million lines. */
export function createLines(to: (text: string) => Promise<void> = write) {
  let pending = '';
  const flush = async () => {
    const text = pending;
    pending = '';
    if (text) await to(text);
  };
  return {
    async add(text: string): Promise<void> {
      pending += text;
      if (pending.length >= batchLength || process.stdout.isTTY) await flush();
    },
    async end(text = ''): Promise<void> {
      pending += text;
      await flush();
    },
  };
}

/** For a closed pipe, uses the exit code of shells for SIGPIPE. Other causes, for example a full disk, have a message. */
function toOutputError(error: NodeJS.ErrnoException): ExitError {
  if (error.code === 'EPIPE') return new ExitError(128 + constants.signals.SIGPIPE);
  return new ExitError(1, `Cannot write the output: ${describeFileError(error)}.`);
}

/** Escapes control characters in a text of another user and keeps its line ends. */
export function escapeLines(text: string): string {
  return text.split(/\r?\n/).map(escapeControls).join('\n');
}

/** A tagged template that escapes control characters in its values: names and other texts of users. */
export function escaped(texts: TemplateStringsArray, ...values: readonly (string | number)[]): string {
  return String.raw({ raw: texts }, ...values.map((value) => escapeControls(String(value))));
}

/** Formats a table with headings. An empty cell is a dash. Escapes control characters. Without rows, returns `whenNone`. */
export function formatTable(
  headings: readonly string[],
  rows: readonly (readonly (string | null)[])[],
  whenNone?: string,
): string {
  if (rows.length === 0 && whenNone !== undefined) return whenNone;
  const lines = [headings, ...rows.map((cells) => cells.map((cell) => escapeControls(cell || '-')))];
  const widths = headings.map((_, column) =>
    lines.reduce((widest, cells) => Math.max(widest, [...(cells[column] ?? '')].length), 0),
  );
  const pad = (cell: string, column: number) => cell + ' '.repeat(widths[column]! - [...cell].length);
  return lines.map((cells) => cells.map(pad).join('  ').trimEnd()).join('\n');
}

/** Formats the properties of one object, one per line, with their names. Escapes control characters. */
export function formatFacts(rows: readonly (readonly [name: string, value: string | null])[]): string {
  const width = Math.max(...rows.map(([name]) => name.length)) + 2;
  return rows.map(([name, value]) => `${`${name}:`.padEnd(width)}${escapeControls(value || '-')}`).join('\n');
}

/** `2026-11-15 16:50`, in UTC. `--json` prints times unchanged. */
export function toMinute(at: string | null): string {
  return at === null ? '' : at.slice(0, 16).replace('T', ' ');
}

/** `2026-11-15 16:50:07` */
export function toSecond(at: string | null): string {
  return at === null ? '' : at.slice(0, 19).replace('T', ' ');
}

export function formatNumber(number: number): string {
  return number.toLocaleString('en');
}

/** `1 folder`, `1,200 folders` */
export function countFolders(number: number): string {
  return `${formatNumber(number)} ${number === 1 ? 'folder' : 'folders'}`;
}
