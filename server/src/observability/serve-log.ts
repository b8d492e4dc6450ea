/**
 * Logs the start and the stop of a server. On a terminal, the program prints text instead and logs only warnings. The log
 * never contains the password of a database.
 */

import { isatty } from 'node:tty';
import { pino, type Logger } from 'pino';
import type { Settings } from '../config/settings-table.ts';
import { redactPassword } from '../config/redact-url.ts';
import { LogDestination } from './log-destination.ts';

export interface ServeLog {
  readonly log: Logger;
  /** Ignores undefined. */
  warn(text: string | undefined): void;
  /** Important for an operator who moved the database or mistyped its path. A first start is not a warning. */
  madeNew(): void;
  started(server: {
    readonly url: string;
    readonly metricsUrl: string | undefined;
    readonly version: string;
  }): void;
  stopping(signal: NodeJS.Signals): void;
  /** Also flushes the log. */
  stopped(): void;
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
    madeNew() {
      if (!isTerminal) log.info({ database: redactPassword(databaseUrl) }, 'made a new, empty installation');
    },
    started({ url, metricsUrl, version }) {
      if (isTerminal) return;
      const database = databaseUrl.startsWith('sqlite:') ? 'sqlite' : 'postgresql';
      log.info({ version, url, metricsUrl, database, workers }, 'started');
    },
    stopping(signal) {
      if (!isTerminal) log.info({ signal }, 'stopping');
    },
    stopped() {
      if (!isTerminal) log.info('stopped');
      destination.flush();
    },
  };
}
