/** Creates the services of a server from bottom to top: accounts, journal, sessions, health and graph. */

import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { createAccessCache } from '../access/access-cache.ts';
import { createPasswords, type PasswordCost, type Passwords } from '../accounts/passwords.ts';
import type { Clock } from '../clock.ts';
import { singleFlight } from '../concurrency/single-flight.ts';
import type { Settings } from '../config/config.ts';
import type { DisplayedSetting } from '../config/setting.ts';
import type { Database } from '../database/database.ts';
import { createReadiness } from '../database/readiness.ts';
import { createGraph } from '../graph/graph.ts';
import { openJournalFeed, type JournalFeed } from '../journal/journal-feed.ts';
import { checkCurrent } from '../journal/journal.ts';
import type { ScheduledBackup, ScheduledBackupOptions } from '../maintenance/backup/scheduled-backup.ts';
import { Activity } from '../observability/activity.ts';
import { checkHealth } from '../observability/health.ts';
import type { Metrics } from '../observability/metrics.ts';
import { createOutageLog } from '../observability/outage-log.ts';
import { AuthTokens } from '../sessions/auth-token.ts';
import { createKeyEncryption } from '../sessions/key-encryption.ts';
import { LoginThrottle } from '../sessions/login-throttle.ts';
import { createRevocationCache } from '../sessions/revocation-cache.ts';
import { Sessions } from '../sessions/sessions.ts';
import { openSigningKeys, type SigningKeys } from '../sessions/signing-keys.ts';
import type { ClusterWorker } from './cluster-worker.ts';
import { prepareInstallation, storedIssuer, type NewAdministrator } from './installation.ts';
import type { ServerTracing } from './telemetry.ts';

export interface ServiceOptions {
  readonly settings: Settings;
  /** The settings for display to administrators. */
  readonly displayedSettings?: readonly DisplayedSetting[];
  readonly clock: Clock;
  readonly log: Logger;
  readonly version: string;
  /** Called before the port is bound, because binding can fail and the password is not stored. */
  readonly onNewAdministrator?: (administrator: NewAdministrator) => void;
  /** Set if this server is one worker of a cluster. */
  readonly worker?: ClusterWorker;
  /** For tests: called instead of logging when a query plan fails. */
  readonly onPlanFailure?: (error: unknown) => void;
  /** For tests that hash many passwords. */
  readonly passwordCost?: PasswordCost;
}

/** The parts that exist before the services. */
export interface ServerBase extends ServiceOptions {
  readonly database: Database;
  /** Undefined on PostgreSQL. */
  readonly databaseFile: string | undefined;
  readonly metrics: Metrics | undefined;
  readonly tracing: ServerTracing | undefined;
}

export type Services = Awaited<ReturnType<typeof createServices>>;

/** How many passwords may wait for hashing on a node. */
const maxWaitingHashes = 500;

export async function createServices(base: ServerBase) {
  const { database, clock, settings, worker, log } = base;
  const passwords = createPasswords({
    cost: base.passwordCost,
    ...(worker && {
      semaphore: worker.hashingSemaphore,
      maxWaiting: Math.ceil(maxWaitingHashes / worker.count),
    }),
  });
  const encryption = createKeyEncryption(settings.masterKey);
  const created = await prepareInstallation({ database, passwords, encryption, now: clock.now(), settings });
  if (created) base.onNewAdministrator?.(created);
  const installation = await storedIssuer(database);
  const logOutage = createOutageLog(log, clock);
  const onKeysError = (err: unknown) => logOutage('the signing keys cannot be read', err);
  const keys = await openSigningKeys({ database, clock, encryption, onError: onKeysError });
  const onFeedError = (err: unknown) => logOutage('the journal cannot be read', err);
  const feed = await openJournalFeed({ database, onError: onFeedError });
  try {
    worker?.onCommitted(feed.poll);
    feed.onEntry(({ kind }) => {
      if (kind === 'ROTATE_KEY' || kind === 'RETIRE_KEY') keys.reread().catch(onKeysError);
    });
    const core = { ...base, installation, passwords, encryption, logOutage, onKeysError, keys, feed };
    const { throttle, sessions } = await createTokenServices(core);
    const health = await createHealthServices(core);
    const activity = new Activity(clock);
    const graph = createGraphService({ ...core, ...health, throttle, activity });
    return { ...core, ...health, throttle, sessions, activity, graph };
  } catch (error) {
    feed.close();
    throw error;
  }
}

interface CoreServices extends ServerBase {
  readonly installation: string;
  readonly passwords: Passwords;
  readonly keys: SigningKeys;
  readonly feed: JournalFeed;
  readonly logOutage: (message: string, error: unknown) => void;
}

async function createTokenServices(core: CoreServices): Promise<{
  throttle: LoginThrottle;
  sessions: Sessions;
}> {
  const { database, clock, settings, keys, feed, installation, passwords, metrics, log, logOutage } = core;
  const authTokens = new AuthTokens({
    issuer: settings.issuer ?? installation,
    lifetimeSeconds: settings.accessTokenSeconds,
    clock,
    keys,
  });
  const onError = (err: unknown) => logOutage('ended sessions cannot be read', err);
  const revoked = await createRevocationCache({ database, feed, clock, onError });
  const throttle = new LoginThrottle({
    database,
    clock,
    installation,
    isOn: settings.loginThrottle,
    attemptQueues: core.worker?.attemptQueues,
  });
  const sessions = new Sessions({
    database,
    clock,
    passwords,
    throttle,
    authTokens,
    revoked,
    onTheft: (theft) => {
      metrics?.countReplay('ended');
      log.warn(theft, 'a spent refresh token came back: its session is ended');
    },
    onReplay: () => metrics?.countReplay('tolerated'),
    settings,
  });
  return { throttle, sessions };
}

async function createHealthServices(core: CoreServices) {
  const { database, databaseFile, settings, clock, log, worker, keys, installation } = core;
  const isReady = createReadiness({
    database,
    recheckFault: () => checkCurrent(database),
    onChange: (isUp, err) =>
      isUp ? log.info('the database answers again') : log.warn({ err }, 'the database does not answer'),
  });
  const maintainsStoredData = !worker || worker.number === 1;
  const backups = await openBackups({ settings, installation, clock, log, isMaker: maintainsStoredData });
  // The other workers do not know the result of the last backup.
  const backupState = backups && maintainsStoredData ? () => backups.state() : undefined;
  const checkNow = singleFlight(() => checkHealth({ database, databaseFile, keys, isReady, backupState }));
  return { isReady, maintainsStoredData, backups, checkHealth: checkNow };
}

/** The module is loaded only if backups are configured, to keep the start fast. */
async function openBackups(options: ScheduledBackupOptions): Promise<ScheduledBackup | undefined> {
  if (options.settings.backupFolder === undefined) return undefined;
  const { ScheduledBackup } = await import('../maintenance/backup/scheduled-backup.ts');
  return ScheduledBackup.open(options);
}

interface GraphServices extends CoreServices {
  readonly throttle: LoginThrottle;
  readonly activity: Activity;
  readonly checkHealth: Awaited<ReturnType<typeof createHealthServices>>['checkHealth'];
}

function createGraphService(services: GraphServices) {
  const { database, clock, settings, version, worker, metrics, log, logOutage } = services;
  return createGraph({
    database,
    clock,
    passwords: services.passwords,
    throttle: services.throttle,
    feed: services.feed,
    limits: settings,
    accessCache: createAccessCache(database),
    server: {
      version,
      startedAt: clock.now(),
      node: worker ? `${hostname()} (worker ${worker.number} of ${worker.count})` : hostname(),
      databaseKind: services.databaseFile === undefined ? 'POSTGRESQL' : 'SQLITE',
      settings: services.displayedSettings ?? [],
      refreshTokenSeconds: settings.refreshTokenSeconds,
      activity: services.activity,
      checkHealth: services.checkHealth,
    },
    onDocument: metrics?.countDocument,
    onQuery: metrics?.countQuery,
    onPlanFailure:
      services.onPlanFailure ??
      ((err) => {
        metrics?.countPlanFailure();
        log.error({ err }, 'a query plan failed: graphql-js runs the query');
      }),
    onBug: (err) => log.error({ err }, 'a graph field failed'),
    onUnavailable: (err) => logOutage('a graph field could not be had', err),
    tracing: services.tracing?.graph,
  });
}
