/** Starts a server and stops it. `startup/` contains the steps. */

import type { Clock } from './clock.ts';
import { withTimeout } from './concurrency/timeout.ts';
import { databaseOptionsFrom } from './config/config.ts';
import type { Settings } from './config/settings-table.ts';
import type { DatabaseOptions } from './database/database.ts';
import { openDatabase, sqliteFilePath } from './database/open-database.ts';
import { createApp, type App } from './http/app.ts';
import { readTlsFiles, type TlsFiles } from './config/tls-files.ts';
import { baseUrl, listenOrExplain, requireFreePorts } from './http/listen.ts';
import { readHead } from './journal/journal.ts';
import type { MetricsPort } from './observability/metrics.ts';
import { Housekeeping } from './startup/housekeeping.ts';
import { createServices, type ServerBase, type ServiceOptions, type Services } from './startup/services.ts';
import { loadMetrics, openMetrics, openTraces } from './startup/telemetry.ts';

export interface ServerOptions extends ServiceOptions {
  readonly settings: Settings;
  readonly clock: Clock;
  readonly onStatement?: DatabaseOptions['onStatement'];
  /** The folder of the built console, or null if the console has not been built. If undefined, the server has no console. */
  readonly consoleFolder?: string | null;
  /** The folder of the built documentation site. Without it, the server has no documentation. */
  readonly documentationFolder?: string | undefined;
  /** Cancels the start before the port is bound. */
  readonly signal?: AbortSignal;
  /** For tests: the housekeeping runs only when `runHousekeeping` is called. Only the signing keys are still read periodically. */
  readonly isHousekeepingManual?: boolean;
}

export interface RunningServer {
  /** The API root, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Set if the server has a metrics port. */
  readonly metricsUrl: string | undefined;
  /** Runs the periodic tasks once. */
  runHousekeeping(): Promise<void>;
  close(): Promise<void>;
}

/** How long closing may take after the last response. */
const closeTimeoutMs = 2_000;

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { settings, worker } = options;
  const tls = readTlsFiles(settings);
  // The primary has checked the ports of its workers.
  if (!worker) await requireFreePorts(settings);
  const base = await openBase(options);
  const { database, tracing } = base;
  let services: Services | undefined;
  let metricsPort: MetricsPort | undefined;
  try {
    options.signal?.throwIfAborted();
    services = await createServices(base);
    const app = await createServerApp(services, options, tls);
    options.signal?.throwIfAborted();
    metricsPort = await openServerMetrics(services);
    const { host, port } = settings;
    const sharing = worker && { reusePort: true, requireUnused: worker.isFirst };
    const address = await listenOrExplain(() => app.listen({ host, port, ...sharing }), settings);
    const housekeeping = new Housekeeping(services);
    if (options.isHousekeepingManual) housekeeping.startManual();
    else housekeeping.start();
    return {
      url: baseUrl(settings, address.port),
      port: address.port,
      metricsUrl: metricsPort?.url,
      runHousekeeping: () => housekeeping.run(),
      close: closeAll(app, services, housekeeping, metricsPort),
    };
  } catch (error) {
    services?.feed.close();
    await Promise.all([metricsPort?.close(), database.close(), tracing?.close()]);
    throw database.explain(error);
  }
}

/** Opens metrics, traces and the database, which all services need. */
async function openBase(options: ServerOptions): Promise<ServerBase> {
  const { settings, clock, log, onStatement, worker } = options;
  const metrics = await loadMetrics(settings);
  const tracing = await openTraces(options);
  const opened = await openDatabase(settings.databaseUrl, clock, {
    ...databaseOptionsFrom(settings),
    onStatement,
    onDuration: metrics?.timeDatabase,
    notifyOtherProcesses: worker?.publishCommit,
    onWriteFailure: metrics?.countWriteFailure,
    log: (severity, text) => log[severity](text),
  });
  const databaseFile = sqliteFilePath(settings.databaseUrl);
  const database = tracing ? tracing.traceDatabase(opened, databaseSystem(databaseFile)) : opened;
  return { ...options, metrics, tracing, database, databaseFile };
}

function databaseSystem(databaseFile: string | undefined): 'postgresql' | 'sqlite' {
  return databaseFile === undefined ? 'postgresql' : 'sqlite';
}

function createServerApp(
  services: Services,
  { consoleFolder, documentationFolder }: ServerOptions,
  tls: TlsFiles,
): Promise<App> {
  const { database, metrics, tracing, settings, worker } = services;
  return createApp({
    ...services,
    findFault: () => database.findFault()?.summary,
    onRequestFinished: metrics?.countRequest,
    tracing: tracing?.requests,
    consoleFolder: settings.console ? consoleFolder : undefined,
    documentationFolder,
    tls,
    remoteConnections: worker?.connections,
  });
}

async function openServerMetrics(services: Services): Promise<MetricsPort | undefined> {
  const { metrics, version, database, databaseFile } = services;
  metrics?.collectFrom({
    ...services,
    build: { version, database: databaseSystem(databaseFile) },
    readHead: async () => (await readHead(database)).number,
  });
  return metrics && openMetrics(metrics, services);
}

function closeAll(
  app: App,
  { backups, feed, database, sessions, signIns, singleSignOn, tracing, log }: Services,
  housekeeping: Housekeeping,
  metricsPort: MetricsPort | undefined,
): () => Promise<void> {
  const closeRest = async () => {
    await housekeeping.stop();
    await singleSignOn?.close();
    await signIns.store().catch((err: unknown) => {
      log.warn({ err }, 'The last failed sign-ins could not be stored.');
    });
    await sessions.storeApiKeyUses().catch((err: unknown) => {
      log.warn({ err }, 'The last uses of API keys could not be stored.');
    });
    feed.close();
    await database.close();
    return true;
  };
  return async () => {
    const stopBackups = backups?.stop();
    await app.stop();
    await stopBackups;
    await metricsPort?.close();
    // A transaction that has not committed when the timeout ends is rolled back.
    const isClosed = await withTimeout(closeTimeoutMs, closeRest(), false);
    if (!isClosed)
      log.warn('The database did not close in time. Changes that clients received a response for are safe.');
    await tracing?.close();
  };
}
