/**
 * Writes the log to standard error: as JSON lines, or as text on a terminal. If it cannot be written, for example to a file
 * on a full disk or a pipe without a reader, the server continues. Pino's own destination would block until it can.
 */

import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { pino } from 'pino';
import { formatLogLine } from './format-log-line.ts';

/** Lines that could not be written, up to this size. Later lines are lost. */
const maxUnwrittenBytes = 2 ** 20;
/** Access log lines are buffered for this time and up to this size, so that one system call writes many. */
const maxBufferedMs = 100;
const maxBufferedBytes = 64 * 1024;
/** UTF-8 bytes per UTF-16 code unit. */
const maxBytesPerUnit = 3;

const info = pino.levels.values['info']!;
/** The message of every line of the access log: see http/access-log.ts. */
const accessLogMessage = 'request';

const needsMetadata: unique symbol = Symbol.for('pino.metadata') as never;

export class LogDestination {
  /** Makes pino set `lastLevel` and `lastMsg` before each call of `write`: https://getpino.io/#/docs/api?id=metadata */
  readonly [needsMetadata] = true;
  lastLevel = 0;
  lastMsg: string | undefined;
  readonly #descriptor: number;
  readonly #isTerminal: boolean;
  /** Bytes, not strings: a string would be kept in parts that have to be joined later. */
  readonly #buffer = Buffer.allocUnsafe(maxBufferedBytes);
  #bufferedBytes = 0;
  #unwritten: Buffer = Buffer.alloc(0);
  #timer: NodeJS.Timeout | undefined;

  constructor(descriptor = 2, isTerminal = isatty(descriptor)) {
    this.#descriptor = descriptor;
    this.#isTerminal = isTerminal;
    process.on('exit', () => this.flush());
  }

  /** Writes the line at once. Lines of the access log are buffered for a moment. */
  write(line: string): void {
    this.#add(this.#isTerminal ? formatLogLine(line) : line);
    if (this.#isTerminal || !this.#mayWait()) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), maxBufferedMs).unref();
  }

  /** Writes the buffered lines. */
  flush(): void {
    const bytes = this.#buffer.subarray(0, this.#bufferedBytes);
    this.#bufferedBytes = 0;
    this.#writeOut(bytes);
  }

  #mayWait(): boolean {
    return this.lastLevel <= info && this.lastMsg === accessLogMessage;
  }

  #add(line: string): void {
    const maxBytes = line.length * maxBytesPerUnit;
    if (this.#bufferedBytes + maxBytes > maxBufferedBytes) this.flush();
    if (maxBytes > maxBufferedBytes) this.#writeOut(Buffer.from(line));
    else this.#bufferedBytes += this.#buffer.write(line, this.#bufferedBytes);
  }

  #writeOut(bytes: Buffer): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    let rest = bytes;
    if (this.#unwritten.length > 0) {
      rest =
        this.#unwritten.length < maxUnwrittenBytes
          ? Buffer.concat([this.#unwritten, bytes])
          : this.#unwritten;
    }
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(this.#descriptor, rest));
    } catch {
      // Full, closed or slow. Try again in a moment, or with the next line.
      this.#timer = setTimeout(() => this.flush(), maxBufferedMs).unref();
    }
    this.#unwritten = Buffer.from(rest);
  }
}
