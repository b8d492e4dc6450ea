/** `espalier serve`: runs the server until a signal, and prints its addresses. */

import cluster from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import { formatInterval } from '../maintenance/backup/backup-files.ts';
import { systemClock } from '../clock.ts';
import { isRunByNpx } from '../config/command-line.ts';
import { readProcessSettings } from '../config/config.ts';
import { settingGroups, type Settings } from '../config/settings-table.ts';
import { redactPassword } from '../config/redact-url.ts';
import type { NewAdministrator } from '../startup/installation.ts';
import { Primary, WorkerFailedError, type ClusterOptions } from '../cluster/primary.ts';
import { command } from './command.ts';
import { ExitError } from './failures.ts';
import { consoleFolder, documentationFolder, version } from './package-files.ts';
import { serveLog } from '../observability/log.ts';
import { findSettingWarnings, unsealedWarning } from '../config/settings-warnings.ts';
import { catchStopSignals, endOnBug, type StopSignal } from '../startup/signals.ts';

/** A server in this process, or a cluster of workers. */
interface RunningServer {
  readonly url: string;
  readonly metricsUrl: string | undefined;
  /** Rejects if the cluster fails. */
  readonly broken?: Promise<never>;
  close(): Promise<void>;
}

const minPasswordLength = 8;
/** In a clone, and when npx runs the program, `espalier` is not in the PATH. */
const program = import.meta.url.endsWith('.ts') || isRunByNpx() ? 'npx espalier' : 'espalier';

export const serve = command({
  about: 'Run the server',
  settings: Object.entries(settingGroups).flatMap(([subject, group]) =>
    Object.values(group).map((setting) => ({ ...setting, heading: `${subject}:` })),
  ),
  printsWarnings: true,
  details: 'Set each setting with a flag or an environment variable. A flag overrides its variable.',
  examples: [
    'espalier serve --demo',
    'espalier serve --port 9090 --database-url sqlite:/var/lib/espalier/espalier.db',
    'ESPALIER_DATABASE_URL_FILE=/run/secrets/database espalier serve --workers 4',
  ],
  run: ({ flags }) => (cluster.isWorker ? work() : serveUntilStopped(flags)),
});

async function serveUntilStopped(flags: Readonly<Record<string, string>>): Promise<void> {
  const stop = catchStopSignals();
  const { settings, displayed, warnings } = readProcessSettings(flags);
  const serverLog = serveLog(settings);
  const { log } = serverLog;
  endOnBug(log);
  for (const warning of [...warnings, ...findSettingWarnings(settings)]) serverLog.warn(warning);
  void stop.whenRequested.then((signal) => serverLog.logStopping(signal));
  const starting = start({
    settings,
    displayedSettings: displayed,
    log,
    signal: stop.signal,
    onNewAdministrator: (created) => {
      serverLog.logCreated();
      console.log(welcome(created, settings));
      if (settings.adminPassword && [...settings.adminPassword].length < minPasswordLength) {
        serverLog.warn(
          `The administrator's password has fewer than ${minPasswordLength} characters: it is easy to guess. Change it.`,
        );
      }
    },
  });
  const server = await unlessStopped(starting, stop, settings);
  if (server) {
    serverLog.warn(unsealedWarning(settings));
    console.log(addresses(server, settings));
    serverLog.logStarted({ url: server.url, metricsUrl: server.metricsUrl, version: version() });
    console.log(howToTry(server));
    try {
      await Promise.race([stop.whenRequested, ...(server.broken ? [server.broken] : [])]);
    } finally {
      await server.close();
    }
  }
  serverLog.logStopped();
  console.log('Stopped.');
  // Unfinished work is abandoned.
  process.exit(0);
}

/** Loads the server only if it runs in this process: a primary uses less memory without it. */
async function start(options: ClusterOptions): Promise<RunningServer> {
  if (options.settings.workers > 1) return startCluster(options);
  const { startServer } = await import('../server.ts');
  return startServer({
    ...options,
    clock: systemClock,
    version: version(),
    consoleFolder: consoleFolder(),
    documentationFolder: documentationFolder(),
  });
}

/** If a worker cannot start, reports the same message and exit code as a single process. */
async function startCluster(options: ClusterOptions): Promise<RunningServer> {
  try {
    return await Primary.start(options);
  } catch (error) {
    if (error instanceof WorkerFailedError) throw new ExitError(error.exitCode, error.message);
    throw error;
  }
}

async function work(): Promise<void> {
  const { workUntilStopped } = await import('./worker.ts');
  await workUntilStopped();
}

/** Returns undefined if a signal stops the start. After a signal, waits at most `stopSeconds` for the start to finish. */
async function unlessStopped(
  starting: Promise<RunningServer>,
  { signal, whenRequested }: StopSignal,
  { stopSeconds }: Settings,
): Promise<RunningServer | undefined> {
  const timeout = whenRequested.then(() => delay(stopSeconds * 1000, undefined));
  try {
    return await Promise.race([starting, timeout]);
  } catch (error) {
    if (error === signal.reason) return undefined;
    throw error;
  }
}

function welcome({ username, generatedPassword }: NewAdministrator, { databaseUrl, demo }: Settings): string {
  const password = generatedPassword
    ? `${generatedPassword}   (shown only this once)`
    : 'the one that you set';
  return `
First start: created the administrator${demo ? ' and the demo tree' : ''} in ${redactPassword(databaseUrl)}

  User name  ${username}
  Password   ${password}`;
}

function addresses({ url, metricsUrl }: RunningServer, { databaseUrl, ...settings }: Settings): string {
  const addresses = {
    API: url,
    Console: settings.console && `${url}/console`,
    GraphQL: `${url}/graphql`,
    WebSocket: `${url.replace(/^http/, 'ws')}/graphql`,
    OpenAPI: `${url}/openapi.json`,
    Metrics: metricsUrl,
    Traces: settings.tracesUrl,
    Database: redactPassword(databaseUrl),
    Backups:
      settings.backupFolder && `${settings.backupFolder}, ${formatInterval(settings.backupEveryHours)}`,
    Docs: documentationFolder() && `${url}/docs/`,
  };
  const lines = Object.entries(addresses).map(
    ([name, address]) => address && `\n  ${name.padEnd(10)} ${address}`,
  );
  return `\nEspalier ${version()} is running\n${lines.filter(Boolean).join('')}`;
}

function howToTry({ url }: RunningServer): string {
  return `
Log in and list the folders, in another terminal:

  ${program} login --url ${url}
  ${program} folder list

Read the API description:

  curl -s ${url}/openapi.json

Stop with Ctrl-C.`;
}
