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
  await print(jsonText(value, process.stdout.isTTY ? 2 : undefined));
}

/** JSON that a terminal shows and does not obey. */
export function jsonText(value: unknown, indent?: number): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value, null, indent).replace(/[\u007f-\uffff]/g, (unit) =>
    isObeyed(unit) ? escaped(unit) : unit,
  );
}

/** A text that others wrote, for a terminal: what would move its cursor or turn its letters around is spelled out. */
export function shown(text: string): string {
  return text.replace(/./gsu, (letter) =>
    isObeyed(letter) ? `\\u{${letter.codePointAt(0)!.toString(16)}}` : letter,
  );
}

/** Control characters, ends of lines, and what changes the direction of writing (Unicode UAX #9). */
function isObeyed(letter: string): boolean {
  return /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/u.test(letter);
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
