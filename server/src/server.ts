/** Wires the parts together, and nothing else. */

import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { Activity } from './observability/activity.ts';
import { createAccessCache } from './access/access-cache.ts';
import { createPasswords, type PasswordCost } from './accounts/passwords.ts';
import type { ScheduledBackup, ScheduledBackupOptions } from './maintenance/backup/scheduled-backup.ts';
import type { Clock } from './clock.ts';
import { databaseOptionsFrom, type Settings } from './config/config.ts';
import type { DatabaseOptions } from './database/database.ts';
import { sqliteFilePath, openDatabase } from './database/open-database.ts';
import { createReadiness } from './database/readiness.ts';
import { retryFailedWrite } from './database/stored-settings.ts';
import { writeFailureReasons } from './database/write-failure.ts';
import { prepareInstallation, storedIssuer, type NewAdministrator } from './startup/installation.ts';
import { purgeTrash } from './folders/trash.ts';
import { createGraph } from './graph/graph.ts';
import { checkHealth } from './observability/health.ts';
import { baseUrl, listenOrExplain, requireFreePorts } from './http/listen.ts';
import { createApp } from './http/app.ts';
import { pruneIdempotencyKeys } from './journal/idempotency.ts';
import { openJournalFeed, type JournalFeed } from './journal/journal-feed.ts';
import { checkCurrent, readHead } from './journal/journal.ts';
import { pruneJournal } from './journal/journal.ts';
import { readTlsFiles } from './http/listen.ts';
import type { MetricsPort } from './observability/metrics-port.ts';
import { createAuthTokens } from './sessions/auth-token.ts';
import { createRevocationCache } from './sessions/revocation-cache.ts';
import { createKeyEncryption } from './sessions/key-encryption.ts';
import { createLoginThrottle } from './sessions/login-throttle.ts';
import { createSessions } from './sessions/sessions.ts';
import { openSigningKeys, rereadKeysEveryMs } from './sessions/signing-keys.ts';
import { createKeyRotation } from './sessions/key-rotation.ts';
import { singleFlight } from './concurrency/single-flight.ts';
import type { DisplayedSetting } from './config/setting.ts';
import { createOutageLog } from './observability/outage-log.ts';
import { loadMetrics, openTraces, showMetrics } from './startup/telemetry.ts';
import { withTimeout } from './concurrency/timeout.ts';
import type { ClusterWorker } from './startup/cluster-worker.ts';

export interface ServerOptions {
  readonly settings: Settings;
  /** The same, for administrators to see. */
  readonly displayedSettings?: readonly DisplayedSetting[];
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: string;
  /** Told at once, before the port is taken: the password is kept nowhere else, and listening may fail. */
  readonly onNewAdministrator?: (administrator: NewAdministrator) => void;
  readonly onStatement?: DatabaseOptions['onStatement'];
  /** Where the built files of the console are; null if it has not been built. Without it, there is no console. */
  readonly consoleFolder?: string | null;
  /** Set if this server is one worker of a cluster. */
  readonly worker?: ClusterWorker;
  /** Ends the start before anything is listened for. */
  readonly signal?: AbortSignal;
  /** For tests: called instead of logging when a query plan fails. */
  readonly onPlanFailure?: (error: unknown) => void;
  /** For tests: no timer does the housekeeping. */
  readonly isSweptByHand?: boolean;
  /** For tests that hash often and are not about what it costs. */
  readonly passwordCost?: PasswordCost;
}

export interface RunningServer {
  /** The API root, without a slash at its end. */
  readonly url: string;
  readonly port: number;
  /** If it has a port for metrics. */
  readonly metricsUrl: string | undefined;
  /** The housekeeping that timers do every few seconds. */
  sweep(): Promise<void>;
  close(): Promise<void>;
}

const sweepEveryMs = 10_000;
const lookForDatabaseEveryMs = 5_000;
/** After a write failed, a small one is tried now and then: it is over even if no client changes anything. */
const retryWriteEveryMs = 60_000;
/** Passwords in line to be hashed. */
const hashesWaiting = 500;
/** How long the end may take once every request has been answered or cut. */
const restWithinMs = 2_000;

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { settings, clock, log, version, onStatement, worker } = options;
  const tls = readTlsFiles(settings);
  // The primary has checked the ports of its workers.
  if (!worker) await requireFreePorts(settings);
  const metrics = await loadMetrics(settings);
  const tracing = await openTraces(options);
  const opened = await openDatabase(settings.databaseUrl, clock, {
    ...databaseOptionsFrom(settings),
    onStatement,
    onDuration: metrics?.timeDatabase,
    onAnnounced: worker?.publishCommit,
    onWriteFailure: metrics?.countWriteFailure,
    log: (severity, text) => log[severity](text),
  });
  const databaseFile = sqliteFilePath(settings.databaseUrl);
  const system = databaseFile === undefined ? 'postgresql' : 'sqlite';
  const database = tracing ? tracing.traceDatabase(opened, system) : opened;
  let feed: JournalFeed | undefined;
  let metricsPort: MetricsPort | undefined;
  try {
    options.signal?.throwIfAborted();
    const passwords = createPasswords({
      cost: options.passwordCost,
      ...(worker && { semaphore: worker.hashingSemaphore, maxWaiting: share(hashesWaiting, worker) }),
    });
    const encryption = createKeyEncryption(settings.masterKey);
    const created = await prepareInstallation({ database, passwords, encryption, now: clock.now(), settings });
    if (created) options.onNewAdministrator?.(created);
    const installation = await storedIssuer(database);
    const logOutage = createOutageLog(log, clock);
    const onKeysError = (err: unknown) => logOutage('the signing keys cannot be read', err);
    const keys = await openSigningKeys({ database, clock, encryption, onError: onKeysError });
    const authTokens = createAuthTokens({
      issuer: settings.issuer ?? installation,
      lifetimeSeconds: settings.accessTokenSeconds,
      clock,
      keys,
    });
    feed = await openJournalFeed({
      database,
      onError: (err) => logOutage('the journal cannot be read', err),
    });
    worker?.onCommitted(feed.poll);
    const ended = await createRevocationCache({
      database,
      feed,
      clock,
      onError: (err) => logOutage('ended sessions cannot be read', err),
    });
    feed.onEntry(({ kind }) => {
      if (kind === 'ROTATE_KEY' || kind === 'RETIRE_KEY') keys.reread().catch(onKeysError);
    });
    const throttle = createLoginThrottle({
      database,
      clock,
      installation,
      isOn: settings.loginThrottle,
      attemptQueues: worker?.attemptQueues,
    });
    const sessions = createSessions({
      database,
      clock,
      passwords,
      throttle,
      authTokens,
      ended,
      onTheft: (theft) => {
        metrics?.countReplay('ended');
        log.warn(theft, 'a spent refresh token came back: its session is ended');
      },
      onReplay: () => metrics?.countReplay('tolerated'),
      settings,
    });
    const isReady = createReadiness({
      database,
      recheckFault: () => checkCurrent(database),
      onChange: (isUp, err) =>
        isUp ? log.info('the database answers again') : log.warn({ err }, 'the database does not answer'),
    });
    // Of what is stored, one of several workers takes care; each has sessions in memory.
    const isSweeper = !worker || worker.number === 1;
    const backups = await openBackups({ settings, installation, clock, log, isMaker: isSweeper });
    // The others do not know what became of the last one.
    const backupState = backups && isSweeper ? () => backups.state() : undefined;
    const checkNow = singleFlight(() => checkHealth({ database, databaseFile, keys, isReady, backupState }));
    const activity = new Activity(clock);
    const graph = createGraph({
      database,
      clock,
      passwords,
      throttle,
      feed,
      limits: settings,
      accessCache: createAccessCache(database),
      server: {
        version,
        startedAt: clock.now(),
        node: worker ? `${hostname()} (worker ${worker.number} of ${worker.count})` : hostname(),
        databaseKind: databaseFile === undefined ? 'POSTGRESQL' : 'SQLITE',
        settings: options.displayedSettings ?? [],
        refreshTokenSeconds: settings.refreshTokenSeconds,
        activity,
        checkHealth: checkNow,
      },
      onDocument: metrics?.countDocument,
      onQuery: metrics?.countQuery,
      onPlanFailure:
        options.onPlanFailure ??
        ((err) => {
          metrics?.countPlanFailure();
          log.error({ err }, 'a query plan failed: graphql-js runs the query');
        }),
      onBug: (err) => log.error({ err }, 'a graph field failed'),
      onUnavailable: (err) => logOutage('a graph field could not be had', err),
      tracing: tracing?.graph,
    });
    const app = await createApp({
      sessions,
      keys,
      graph,
      clock,
      log,
      version,
      isReady,
      findFault: () => database.findFault()?.summary,
      checkHealth: checkNow,
      onRequestFinished: metrics?.countRequest,
      activity,
      logOutage,
      tracing: tracing?.requests,
      consoleFolder: settings.console ? options.consoleFolder : undefined,
      tls,
      settings,
      remoteConnections: worker?.connections,
    });
    options.signal?.throwIfAborted();
    const followed = feed;
    metrics?.collectFrom({
      build: { version, database: system },
      isReady,
      checkHealth: checkNow,
      passwords,
      database,
      backups,
      open: activity,
      writeFailureReasons,
      journal: { seen: () => followed.last, readHead: async () => (await readHead(database)).number },
    });
    metricsPort = metrics && (await showMetrics(metrics, options));
    const { host, port } = settings;
    const sharing = worker && { reusePort: true, requireUnused: worker.isFirst };
    const address = await listenOrExplain(() => app.listen({ host, port, ...sharing }), settings);

    const sweepKeys = createKeyRotation({ database, clock, encryption, keys, settings });
    const sweepStored = [
      sweepKeys,
      () => purgeTrash(database, clock.now(), settings.trashDays),
      () => pruneJournal(database, clock.now(), settings),
      () => pruneIdempotencyKeys(database, clock.now()),
    ];
    const sweep = () => runEach([() => sessions.sweep(), ...(isSweeper ? sweepStored : [])]);
    const repeated = options.isSweptByHand
      ? []
      : [
          repeat(sweep, sweepEveryMs, (err) => log.warn({ err }, 'sweeping failed')),
          repeat(() => keys.reread(), rereadKeysEveryMs, onKeysError),
          // Also where no program asks: what it finds is told by itself.
          repeat(
            async () => void (await isReady()),
            lookForDatabaseEveryMs,
            (err) => log.error({ err }, 'a look failed'),
          ),
          repeat(
            () => retryFailedWrite(database),
            retryWriteEveryMs,
            (err) => log.debug({ err }, 'writing to the database still fails'),
          ),
          repeat(
            async () => backups?.makeIfDue(),
            sweepEveryMs,
            (err) => log.warn({ err }, 'backups cannot be looked after'),
          ),
        ];

    return {
      url: baseUrl(settings, address),
      port: address.port,
      metricsUrl: metricsPort?.url,
      async sweep() {
        await isReady();
        await keys.reread();
        await sweep();
        await backups?.makeIfDue();
      },
      async close() {
        const stopBackups = backups?.stop();
        await app.stop();
        await stopBackups;
        await metricsPort?.close();
        const stopRest = async () => {
          await Promise.all(repeated.map((each) => each.stop()));
          feed?.close();
          await database.close();
        };
        // Whatever the database does: a transaction that is not committed by then never was.
        const isDone = await withTimeout(
          restWithinMs,
          stopRest().then(() => true),
          false,
        );
        if (!isDone) log.warn('the database still works on something, and is left to it');
        await tracing?.close();
      },
    };
  } catch (error) {
    feed?.close();
    await Promise.all([metricsPort?.close(), database.close(), tracing?.close()]);
    throw database.explain(error);
  }
}

/** The part of a limit of the node that each of its workers gets. */
function share(whole: number, { count }: ClusterWorker): number {
  return Math.ceil(whole / count);
}

/** All of them, also when one fails; rejects with what failed first. */
async function runEach(works: readonly (() => Promise<unknown>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const work of works) await work().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

/** One after the other; the last is waited for. */
function repeat(work: () => Promise<void>, everyMs: number, onError: (error: unknown) => void) {
  let current: Promise<void> | undefined;
  let hasFailed = false;
  const timer = setInterval(() => {
    current ??= work()
      .then(
        () => void (hasFailed = false),
        (error: unknown) => {
          // Once is enough, however long it lasts.
          if (!hasFailed) onError(error);
          hasFailed = true;
        },
      )
      .finally(() => (current = undefined));
  }, everyMs);
  timer.unref();
  return {
    async stop(): Promise<void> {
      clearInterval(timer);
      await current;
    },
  };
}

/** Hardly anybody sets a folder for them in a first try, and to make copies another program is needed: loaded if so. */
async function openBackups(options: ScheduledBackupOptions): Promise<ScheduledBackup | undefined> {
  if (options.settings.backupFolder === undefined) return undefined;
  const { ScheduledBackup } = await import('./maintenance/backup/scheduled-backup.ts');
  return ScheduledBackup.open(options);
}
