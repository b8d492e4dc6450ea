/** How the process ends: by a signal that asks it to stop, by a second one that does not wait, or by a bug. */

import { constants } from 'node:os';
import type { Logger } from 'pino';

const stopSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface StopSignal {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** Resolves with the first signal. */
  readonly asked: Promise<NodeJS.Signals>;
}

/** A terminal sends Ctrl-C to npm and to this process, and npm forwards it. A second signal this soon is the same one. */
const sameKeyPressMs = 500;

/** The first signal asks to stop; the second ends the process at once, with 128 and its number as shells do it. */
export function catchStopSignals(): StopSignal {
  const stopping = new AbortController();
  let askedAt = -Infinity;
  const { signal } = stopping;
  const asked = Promise.withResolvers<NodeJS.Signals>();
  for (const name of stopSignals) {
    process.on(name, () => {
      const isEcho = name === 'SIGINT' && performance.now() - askedAt < sameKeyPressMs;
      if (isEcho) return;
      if (signal.aborted) process.exit(128 + constants.signals[name]);
      askedAt = performance.now();
      console.log('\nStopping; a second Ctrl-C or signal does not wait for requests in flight.');
      stopping.abort();
      asked.resolve(name);
    });
  }
  return { signal, asked: asked.promise };
}

/** An unexpected error leaves the process in an unknown state. A supervisor restarts it. */
export function endOnBug(log: Logger): void {
  process.on('uncaughtException', (err: unknown, origin) => {
    log.fatal({ err, origin }, 'this should not have happened; the process ends');
    process.exit(1);
  });
}
