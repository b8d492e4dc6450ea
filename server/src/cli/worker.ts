/** `espalier serve` in one worker of a cluster: runs the server until the primary stops it or ends. */

import { once } from 'node:events';
import { pino } from 'pino';
import { systemClock } from '../clock.ts';
import { startServer } from '../server.ts';
import { PrimaryLink } from '../cluster/primary-link.ts';
import { describeFailure } from './failures.ts';
import { LogDestination } from '../observability/log.ts';
import { endOnBug } from '../startup/signals.ts';
import { consoleFolder, documentationFolder, version } from './package-files.ts';

const setupTimeoutMs = 30_000;

export async function workUntilStopped(): Promise<void> {
  ignoreSignals();
  const link = new PrimaryLink();
  const stopped = once(link.signal, 'abort');
  const timer = setTimeout(giveUp, setupTimeoutMs);
  const setup = await Promise.race([link.setup, stopped.then(() => undefined)]);
  clearTimeout(timer);
  if (!setup) process.exit(0);
  const { settings, displayedSettings, number } = setup;
  const log = pino({ level: settings.logLevel }, new LogDestination()).child({ worker: number });
  endOnBug(log);
  try {
    const server = await startServer({
      settings,
      displayedSettings,
      clock: systemClock,
      log,
      version: version(),
      consoleFolder: consoleFolder(),
      documentationFolder: documentationFolder(),
      signal: link.signal,
      worker: link.worker(setup),
      onNewAdministrator: (created) => void link.report({ kind: 'administrator', created }),
    });
    void link.report({ kind: 'ready', port: server.port });
    await stopped;
    await server.close();
  } catch (error) {
    if (!link.signal.aborted) await fail(link, error);
  }
  // Unfinished work is abandoned.
  process.exit(0);
}

/** Our primary sends the setup immediately. The primary of a process manager, for example PM2, never sends it. */
function giveUp(): never {
  console.error(
    "espalier: Another program, for example a process manager, started 'espalier serve' as its cluster worker. Configure that program to start 'espalier serve' as a separate process. For several workers, set ESPALIER_WORKERS.",
  );
  process.exit(1);
}

/** The primary prints the message. If the cluster is still starting, the primary exits with this code. */
async function fail(link: PrimaryLink, error: unknown): Promise<never> {
  const { exitCode, message = '' } = describeFailure(error);
  await link.report({ kind: 'failed', exitCode, message });
  process.exit(exitCode);
}

/** A terminal and some supervisors send signals to every process. Workers ignore them: the primary stops the workers. */
function ignoreSignals(): void {
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined);
}
