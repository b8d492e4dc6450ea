/**
 * The end of the HTTP side, in order: it is said that it is near, the port is closed, what is in flight is finished, and
 * what does not come to its end in time is cut.
 */

import { setImmediate as nextRound, setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Listening } from './listen.ts';
import type { LiveConnections } from './websocket/live-connections.ts';
import type { EndTimings, OpenConnections } from './connections.ts';

export interface StopSettings {
  /** For so long the port stays open, so that load balancers find out before they are turned away. */
  readonly stopDelaySeconds: number;
  /** What is in flight when the port is closed has so long to finish. */
  readonly stopSeconds: number;
}

export interface StopOptions {
  readonly settings: StopSettings;
  readonly connections: OpenConnections;
  readonly live: LiveConnections;
  readonly log: Logger;
  readonly times?: StopTimings;
}

export interface StopTimings extends Omit<EndTimings, 'endWithinMs'> {
  readonly pause: (ms: number) => Promise<unknown>;
}

/** Most rounds of a node at rest are far shorter: to wait for the shortest would only take its turn on the processor away. */
const shortRoundMs = 1;
/** A node that is never at rest does not wait for longer. */
const mostWaitMs = 2_000;

const usualTimes: StopTimings = { checkEveryMs: 50, maxSilentMs: 1_000, pause: (ms) => delay(ms) };

export async function stopListening(
  listening: Listening | undefined,
  { settings, connections, live, log, times = usualTimes }: StopOptions,
): Promise<void> {
  connections.announceEnd();
  if (settings.stopDelaySeconds > 0) await times.pause(settings.stopDelaySeconds * 1000);
  const { allGone } = await closeWhenNobodyIsInLine(listening, connections);
  const endWithinMs = settings.stopSeconds * 1000;
  const [cut] = await Promise.all([
    connections.end(allGone, { ...times, endWithinMs }),
    live.close(endWithinMs),
  ]);
  if (cut > 0) log.warn({ requests: cut }, 'requests that did not end in time were cut');
}

/**
 * Node takes one connection in each of its rounds: who is still in line when the port is closed would be turned away. It
 * is closed at the end of a round that took none and was short, because somebody may have come since it looked.
 */
async function closeWhenNobodyIsInLine(
  listening: Listening | undefined,
  connections: OpenConnections,
): Promise<{ allGone: Promise<void> }> {
  // What is left of this round takes none.
  await nextRound();
  return new Promise((resolve) => {
    const since = performance.now();
    let began = since;
    let { accepted } = connections;
    const look = () => {
      const now = performance.now();
      const isQuiet = connections.accepted === accepted && now - began < shortRoundMs;
      if (isQuiet || now - since >= mostWaitMs) {
        // Here, and not after a promise: every microsecond counts.
        const allGone = listening?.close() ?? Promise.resolve();
        resolve({ allGone });
        return;
      }
      ({ accepted } = connections);
      began = performance.now();
      setImmediate(look);
    };
    setImmediate(look);
  });
}
