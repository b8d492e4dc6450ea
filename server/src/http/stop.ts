/**
 * The end of the HTTP side, in order: it is said that it is near, the port is closed, what is in flight is finished, and
 * what does not come to its end in time is cut.
 */

import { setImmediate as nextRound, setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Listening } from './listening.ts';
import type { LiveConnections } from './live-connections.ts';
import type { EndTimes, OpenConnections } from './open-connections.ts';

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
  readonly times?: StopTimes;
}

export interface StopTimes extends Omit<EndTimes, 'endWithinMs'> {
  readonly pause: (ms: number) => Promise<unknown>;
}

/** More than may stand in line; if they keep coming, it goes on nevertheless. */
const mostRounds = 1_024;
const shortRoundMs = 0.5;
/** A node that is never at rest does not wait for it. */
const mostLongRounds = 100;

const usualTimes: StopTimes = { lookEveryMs: 50, mostSilentMs: 1_000, pause: (ms) => delay(ms) };

export async function stopListening(
  listening: Listening | undefined,
  { settings, connections, live, log, times = usualTimes }: StopOptions,
): Promise<void> {
  connections.announceEnd();
  if (settings.stopDelaySeconds > 0) await times.pause(settings.stopDelaySeconds * 1000);
  await untilNobodyIsInLine(connections);
  const allGone = listening?.close() ?? Promise.resolve();
  const endWithinMs = settings.stopSeconds * 1000;
  const [cut] = await Promise.all([
    connections.end(allGone, { ...times, endWithinMs }),
    live.close(endWithinMs),
  ]);
  if (cut > 0) log.warn({ requests: cut }, 'requests that did not end in time were cut');
}

/**
 * Node takes one connection in each of its rounds: who is still in line when the port is closed would be turned away. It
 * is closed after a round that took none and was short, because somebody may have come since it looked.
 */
async function untilNobodyIsInLine(connections: OpenConnections): Promise<void> {
  // What is left of this round takes none.
  await nextRound();
  for (let round = 0; round < mostRounds; round++) {
    const { taken } = connections;
    const began = performance.now();
    await nextRound();
    const isShort = performance.now() - began < shortRoundMs || round >= mostLongRounds;
    if (connections.taken === taken && isShort) return;
  }
}
