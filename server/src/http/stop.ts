/**
 * Stops the HTTP server: announces the end to clients, closes the port, waits for the requests in flight, and cuts those
 * that do not end in time.
 */

import { setImmediate as nextRound, setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { EndTimings, OpenConnections } from './connections.ts';
import type { Listening } from './listen.ts';
import type { LiveConnections } from './websocket/live-connections.ts';

export interface StopSettings {
  /** How long the port stays open after the announcement, so that load balancers can react. */
  readonly stopDelaySeconds: number;
  /** How long requests may take to finish after the port is closed. */
  readonly stopSeconds: number;
}

interface StopOptions {
  readonly settings: StopSettings;
  readonly connections: OpenConnections;
  readonly live: LiveConnections;
  readonly log: Logger;
  readonly times?: StopTimings;
}

export interface StopTimings extends Omit<EndTimings, 'endWithinMs'> {
  readonly pause: (ms: number) => Promise<unknown>;
}

/** Most rounds of the event loop of an idle node are far shorter. Waiting for a shorter round would only cost time. */
const shortRoundMs = 1;
/** Limits the wait on a node that is never idle. */
const maxWaitMs = 2_000;

const defaultTimings: StopTimings = { checkEveryMs: 50, maxSilentMs: 1_000, pause: (ms) => delay(ms) };

export async function stopListening(
  listening: Listening | undefined,
  { settings, connections, live, log, times = defaultTimings }: StopOptions,
): Promise<void> {
  connections.announceEnd();
  if (settings.stopDelaySeconds > 0) await times.pause(settings.stopDelaySeconds * 1000);
  const { allClosed } = await closeAfterBacklog(listening, connections);
  const endWithinMs = settings.stopSeconds * 1000;
  const [cut] = await Promise.all([
    connections.end(allClosed, { ...times, endWithinMs }),
    live.close(endWithinMs),
  ]);
  if (cut > 0) log.warn({ requests: cut }, 'requests that did not end in time were cut');
}

/**
 * Node accepts one connection per round of the event loop, and closing the port resets connections in the backlog. So the
 * port is closed after a short round that accepted none.
 */
async function closeAfterBacklog(
  listening: Listening | undefined,
  connections: OpenConnections,
): Promise<{ allClosed: Promise<void> }> {
  // The rest of the current round accepts no connection.
  await nextRound();
  return new Promise((resolve) => {
    const since = performance.now();
    let roundStart = since;
    let { accepted } = connections;
    const endRound = () => {
      const now = performance.now();
      const isQuiet = connections.accepted === accepted && now - roundStart < shortRoundMs;
      if (isQuiet || now - since >= maxWaitMs) {
        // Closed here and not after a promise: a new connection can arrive at any moment.
        const allClosed = listening?.close() ?? Promise.resolve();
        resolve({ allClosed });
        return;
      }
      ({ accepted } = connections);
      roundStart = performance.now();
      setImmediate(endRound);
    };
    setImmediate(endRound);
  });
}
