/**
 * Writes the log to standard error: as JSON lines, or as text on a terminal. If the log cannot be written, for example to
 * a file on a full disk or a pipe without a reader, the server continues. Pino's own destination would block until it can write.
 */

import { writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { pino, type Logger } from 'pino';
import type { Settings } from '../config/settings-table.ts';
import { redactPassword } from '../config/redact-url.ts';
import { escapeControls } from '@espalier/contract';

/** The maximum size of all lines that could not be written yet. Later lines are lost. */
const maxUnwrittenBytes = 2 ** 20;
/** Access log lines are buffered for this time and up to this size, so that one system call writes many lines. */
const maxBufferedMs = 100;
const maxBufferedBytes = 64 * 1024;
/** The maximum number of UTF-8 bytes for one UTF-16 code unit. */
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
  /** Bytes, not strings: V8 would keep a string in parts and join them later. */
  readonly #buffer = Buffer.allocUnsafe(maxBufferedBytes);
  #bufferedBytes = 0;
  #unwrittenBytes: Buffer = Buffer.alloc(0);
  #timer: NodeJS.Timeout | undefined;

  constructor(descriptor = 2, isTerminal = isatty(descriptor)) {
    this.#descriptor = descriptor;
    this.#isTerminal = isTerminal;
    process.on('exit', () => this.flush());
  }

  /** Writes the line immediately. Only lines of the access log are buffered briefly. */
  write(line: string): void {
    this.#add(this.#isTerminal ? formatLogLine(line) : line);
    if (this.#isTerminal || !this.#mayBuffer()) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), maxBufferedMs).unref();
  }

  /** Writes the buffered lines. */
  flush(): void {
    const bytes = this.#buffer.subarray(0, this.#bufferedBytes);
    this.#bufferedBytes = 0;
    this.#writeOut(bytes);
  }

  #mayBuffer(): boolean {
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
    if (this.#unwrittenBytes.length > 0) {
      rest =
        this.#unwrittenBytes.length < maxUnwrittenBytes
          ? Buffer.concat([this.#unwrittenBytes, bytes])
          : this.#unwrittenBytes;
    }
    try {
      while (rest.length > 0) rest = rest.subarray(writeSync(this.#descriptor, rest));
    } catch {
      // The file or pipe is full, closed or slow. Writing is retried after a short time, or with the next line.
      this.#timer = setTimeout(() => this.flush(), maxBufferedMs).unref();
    }
    this.#unwrittenBytes = Buffer.from(rest);
  }
}

/**
 * Logs the start and the stop of a server. On a terminal, the program prints text instead and logs only warnings. The log
 * never contains the password of a database.
 */
export interface ServeLog {
  readonly log: Logger;
  /** Ignores undefined. */
  warn(text: string | undefined): void;
  /** Logs that the database was empty, for an operator who moved the database or mistyped its path. */
  logCreated(): void;
  logStarted(server: {
    readonly url: string;
    readonly metricsUrl: string | undefined;
    readonly version: string;
  }): void;
  logStopping(signal: NodeJS.Signals): void;
  /** Also flushes the log. */
  logStopped(): void;
}

export function serveLog(
  { logLevel, databaseUrl, workers }: Settings,
  /** Standard error, except in tests. */
  descriptor = 2,
  isTerminal = isatty(descriptor),
): ServeLog {
  const destination = new LogDestination(descriptor, isTerminal);
  const log = pino({ level: logLevel }, destination);
  return {
    log,
    warn(text) {
      if (text === undefined) return;
      if (isTerminal) console.error(`warning: ${text}`);
      else log.warn(text);
    },
    logCreated() {
      if (!isTerminal)
        log.info({ database: redactPassword(databaseUrl) }, 'created a new, empty installation');
    },
    logStarted({ url, metricsUrl, version }) {
      if (isTerminal) return;
      const database = databaseUrl.startsWith('sqlite:') ? 'sqlite' : 'postgresql';
      log.info({ version, url, metricsUrl, database, workers }, 'started');
    },
    logStopping(signal) {
      if (!isTerminal) log.info({ signal }, 'stopping');
    },
    logStopped() {
      if (!isTerminal) log.info('stopped');
      destination.flush();
    },
  };
}

/** A JSON log line, as pino writes it. */
interface LogLine {
  readonly level: number;
  readonly time: number;
  readonly msg?: string;
  /** Only in lines of requests. */
  readonly method?: string;
  readonly route?: string;
  readonly status?: number;
  readonly ms?: number;
  readonly [fact: string]: unknown;
}

/** The fields that are formatted separately, or are the same in every line of a process. */
const omittedFields = ['level', 'time', 'pid', 'hostname', 'msg', 'err'];
const requestFields = ['method', 'route', 'status', 'ms'];

/** Formats a JSON log line for a terminal. Control characters are escaped. */
export function formatLogLine(text: string): string {
  const line = JSON.parse(text) as LogLine;
  const level = (pino.levels.labels[line.level] ?? '').toUpperCase().padEnd(5);
  const isRequest = line.msg === 'request';
  const message = isRequest ? `${formatRequest(line)} ${line.status} in ${line.ms} ms` : (line.msg ?? '');
  const omitted = isRequest ? [...omittedFields, ...requestFields] : omittedFields;
  const facts = Object.entries(line)
    .filter(([name]) => !omitted.includes(name))
    .map(([name, value]) => `  ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return `${localTime(line.time)} ${level} ${escapeControls(message + facts.join(''))}\n${formatError(line['err'])}`;
}

/** The method is `none` if the request could not be parsed or did not arrive. */
function formatRequest({ method, route = '(no route)' }: LogLine): string {
  return method === 'none' ? '(no request)' : `${method} ${route}`;
}

/** `error` is an error as pino serializes it: type, message, stack and other fields. */
function formatError(error: unknown): string {
  if (error === undefined || error === null) return '';
  const { stack, message } = error as { stack?: string; message?: string };
  const text = stack ?? message ?? JSON.stringify(error);
  return `${text.split(/\r?\n/).map(escapeControls).join('\n').replace(/^/gm, '    ')}\n`;
}

function localTime(at: number): string {
  const date = new Date(at);
  const pad = (value: number, digits = 2) => String(value).padStart(digits, '0');
  return `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}.${pad(date.getMilliseconds(), 3)}`;
}
