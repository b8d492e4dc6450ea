/** Ends the process: gracefully after the first signal, immediately after the second one or after an unexpected error. */

import { constants } from 'node:os';
import type { Logger } from 'pino';

const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface StopSignal {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** Resolves with the first signal. */
  readonly whenRequested: Promise<NodeJS.Signals>;
}

/**
 * A terminal sends Ctrl-C to npm and to this process, and npm forwards it. A second signal within this time comes from the same
 * key press.
 */
const sameKeyPressMs = 500;

/** The first signal requests a stop. The second one ends the process immediately, with the exit code of shells: 128 + number. */
export function catchStopSignals(): StopSignal {
  const stopping = new AbortController();
  let requestedAt = -Infinity;
  const { signal } = stopping;
  const requested = Promise.withResolvers<NodeJS.Signals>();
  for (const name of stopSignals) {
    process.on(name, () => {
      const isEcho = name === 'SIGINT' && performance.now() - requestedAt < sameKeyPressMs;
      if (isEcho) return;
      if (signal.aborted) process.exit(128 + constants.signals[name]);
      requestedAt = performance.now();
      console.log('\nStopping. A second Ctrl-C or signal ends requests in flight.');
      stopping.abort();
      requested.resolve(name);
    });
  }
  return { signal, whenRequested: requested.promise };
}

/** An unexpected error leaves the process in an unknown state. A supervisor restarts it. */
export function endOnBug(log: Logger): void {
  process.on('uncaughtException', (err: unknown, origin) => {
    log.fatal({ err, origin }, 'The process ends because of an unexpected error. This is a bug.');
    process.exit(1);
  });
}
