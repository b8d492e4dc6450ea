/** `espalier serve` in one of several workers: serves what it is handed, until its primary says to stop or is gone. */

import { once } from 'node:events';
import { pino } from 'pino';
import { systemClock } from '../clock.ts';
import { startServer } from '../server.ts';
import { PrimaryLink } from '../workers/primary-link.ts';
import { consoleFolder } from './console-folder.ts';
import { describeFailure } from './failures.ts';
import { LogDestination } from './log-destination.ts';
import { endOnBug } from './signals.ts';
import { version } from './version.ts';

const ordersWithinMs = 30_000;

export async function workUntilStopped(): Promise<void> {
  leaveSignals();
  const link = new PrimaryLink();
  const stopped = once(link.signal, 'abort');
  const late = setTimeout(giveUp, ordersWithinMs);
  const orders = await Promise.race([link.orders, stopped.then(() => undefined)]);
  clearTimeout(late);
  if (!orders) process.exit(0);
  const { settings, shownSettings, place } = orders;
  const log = pino({ level: settings.logLevel }, new LogDestination()).child({ worker: place });
  endOnBug(log);
  try {
    const server = await startServer({
      settings,
      shownSettings,
      clock: systemClock,
      log,
      version: version(),
      consoleFolder: consoleFolder(),
      signal: link.signal,
      neighbours: link.neighbours(orders),
      onNewAdministrator: (created) => void link.report({ kind: 'administrator', created }),
    });
    void link.report({ kind: 'ready' });
    await stopped;
    await server.close();
  } catch (error) {
    if (!link.signal.aborted) await fail(link, error);
  }
  // Whatever is still waited for has been left.
  process.exit(0);
}

/** Our primary gives its orders at once; the one of a process manager never does. */
function giveUp(): never {
  console.error(
    'espalier: serve was started as a worker by another program. Start it by itself, with ESPALIER_WORKERS.',
  );
  process.exit(1);
}

/** The primary says it, and ends with this code if this was the start of all. */
async function fail(link: PrimaryLink, error: unknown): Promise<never> {
  const { exitCode, message = '' } = describeFailure(error);
  await link.report({ kind: 'failed', exitCode, message });
  process.exit(exitCode);
}

/** A terminal and some supervisors send them to every process: it is the primary that says when to stop. */
function leaveSignals(): void {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined);
}
