/** Creates the services of a server, each after the services it needs: accounts, journal, sessions, health, GraphQL. */

import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { AccessCache } from '../access/access-cache.ts';
import { Passwords, type PasswordCost } from '../accounts/passwords.ts';
import type { Clock } from '../clock.ts';
import type { Semaphore } from '../concurrency/semaphore.ts';
import { singleFlight } from '../concurrency/single-flight.ts';
import type { Settings } from '../config/settings-table.ts';
import type { DisplayedSetting } from '../config/setting.ts';
import type { Database } from '../database/database.ts';
import { createReadiness } from '../database/readiness.ts';
import { createGraph } from '../graph/graph.ts';
import type { RemoteConnections } from '../http/live-connections.ts';
import { JournalFeed } from '../journal/journal-feed.ts';
import { checkCurrent } from '../journal/journal.ts';
import type { ScheduledBackup } from '../maintenance/backup/scheduled-backup.ts';
import { Activity } from '../observability/activity.ts';
import { createSizeReader, readGauges } from '../observability/gauges.ts';
import { checkHealth } from '../observability/health.ts';
import type { Metrics, Samples } from '../observability/metrics.ts';
import { createOutageLog } from '../observability/outage-log.ts';
import type { SharedAttemptQueues } from '../sessions/attempt-queues.ts';
import { ApiKeyVerification } from '../sessions/api-key-verification.ts';
import { AuthTokens } from '../sessions/auth-token.ts';
import { KeyEncryption, SigningKeys } from '../sessions/signing-keys.ts';
import { LoginThrottle } from '../sessions/login-throttle.ts';
import { RevocationCache } from '../sessions/revocation.ts';
import { LoginEnrolments } from '../sessions/second-factors/login-enrolment.ts';
import { PasskeyLogin } from '../sessions/second-factors/passkey-login.ts';
import { createSecondFactorServices } from '../sessions/second-factors/second-factor-services.ts';
import { SecondStep } from '../sessions/second-factors/second-step.ts';
import { Sessions } from '../sessions/sessions.ts';
import { withProvider } from '../sessions/single-sign-on/provider-settings.ts';
import type { SingleSignOn } from '../sessions/single-sign-on/single-sign-on.ts';
import { SignIns } from '../sessions/sign-ins.ts';
import { ViewTokens } from '../sessions/view-as.ts';
import { prepareInstallation, readStoredIssuer, type NewAdministrator } from './installation.ts';
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

/** The parts of a cluster that a server needs to run as one of its workers. */
export interface ClusterWorker {
  /** From 1 to `count`. */
  readonly number: number;
  readonly count: number;
  /** Whether no other worker of this cluster listens on the port yet. */
  readonly isFirst: boolean;
  /** All workers share the login queues and one limit on concurrent password hashes. */
  readonly attemptQueues: SharedAttemptQueues;
  readonly hashingSemaphore: Semaphore;
  readonly connections: RemoteConnections;
  readonly publishCommit: () => void;
  readonly onCommitted: (listener: () => void) => void;
  /** Sets the function that reads this worker's metrics for the primary. */
  readonly onSamplesRequested: (read: () => Promise<Samples>) => void;
}

/** The objects that exist before the services. */
export interface ServerBase extends ServiceOptions {
  readonly database: Database;
  /** Undefined on PostgreSQL. */
  readonly databaseFile: string | undefined;
  readonly metrics: Metrics | undefined;
  readonly tracing: ServerTracing | undefined;
}

export type Services = Awaited<ReturnType<typeof createServices>>;

/** The maximum number of passwords that wait for hashing on a node. */
const maxWaitingHashes = 500;

export async function createServices(base: ServerBase) {
  const core = await createCoreServices(base);
  try {
    const tokens = await createTokenServices(core);
    const singleSignOn = await openSingleSignOn(core, tokens);
    const health = await createHealthServices(core);
    const services = { ...core, ...tokens, ...health, singleSignOn };
    return { ...services, graph: createGraphService(services) };
  } catch (error) {
    core.feed.close();
    throw error;
  }
}

type CoreServices = Awaited<ReturnType<typeof createCoreServices>>;

async function createCoreServices(base: ServerBase) {
  const { database, clock, settings, worker, log } = base;
  const passwords = new Passwords({
    cost: base.passwordCost,
    semaphore: worker?.hashingSemaphore,
    maxWaiting: Math.ceil(maxWaitingHashes / (worker?.count ?? 1)),
  });
  const encryption = new KeyEncryption(settings.masterKey);
  const created = await prepareInstallation({ database, passwords, encryption, now: clock.now(), settings });
  if (created) base.onNewAdministrator?.(created);
  const installation = await readStoredIssuer(database);
  const logOutage = createOutageLog(log, clock);
  const onKeysError = (err: unknown) =>
    logOutage(
      'The signing keys cannot be read from the database. The server retries every few seconds.',
      err,
    );
  const keys = await SigningKeys.open({ database, clock, encryption, onError: onKeysError });
  const onFeedError = (err: unknown) =>
    logOutage(
      'The journal cannot be read from the database, so changes of other processes arrive late. The server retries.',
      err,
    );
  const feed = await JournalFeed.open({ database, onError: onFeedError });
  worker?.onCommitted(feed.poll);
  feed.onEntry(({ kind }) => {
    if (kind === 'ROTATE_KEY' || kind === 'RETIRE_KEY') keys.reread().catch(onKeysError);
  });
  const activity = new Activity(clock);
  return { ...base, installation, passwords, encryption, logOutage, onKeysError, keys, feed, activity };
}

async function createTokenServices(core: CoreServices) {
  const { settings, installation, metrics, log, logOutage, worker } = core;
  const issuer = settings.issuer ?? installation;
  const authTokens = new AuthTokens({
    ...core,
    issuer,
    audience: settings.audience,
    lifetimeSeconds: settings.authTokenSeconds,
  });
  const viewTokens = new ViewTokens({ ...core, issuer });
  const onError = (err: unknown) =>
    logOutage(
      'The revoked sessions cannot be read from the database, so ended sessions may still be accepted. The server retries.',
      err,
    );
  const revoked = await RevocationCache.open({ ...core, onError });
  const throttle = new LoginThrottle({
    ...core,
    isOn: settings.loginThrottle,
    attemptQueues: worker?.attemptQueues,
  });
  const signIns = new SignIns(core);
  const secondFactors = createSecondFactorServices({ ...core, issuer, throttle });
  const sessions = new Sessions({
    ...core,
    signIns,
    apiKeys: new ApiKeyVerification({ ...core, revoked, signIns }),
    secondStep: new SecondStep(secondFactors),
    throttle,
    authTokens,
    viewTokens,
    revoked,
    onTheft: (theft) => {
      metrics?.countReplay('ended');
      log.warn(
        theft,
        'A spent refresh token was used again, so the server revoked the session. The token may be stolen.',
      );
    },
    onReplay: () => metrics?.countReplay('tolerated'),
  });
  const loginServices = { ...secondFactors, sessions, signIns };
  const loginEnrolments = new LoginEnrolments(loginServices);
  const passkeyLogin = new PasskeyLogin(loginServices);
  return { throttle, sessions, signIns, viewTokens, revoked, secondFactors, loginEnrolments, passkeyLogin };
}

type TokenServices = Awaited<ReturnType<typeof createTokenServices>>;

/** The module is loaded only if single sign-on is configured, to keep the start fast. Does not wait for the provider. */
async function openSingleSignOn(
  core: CoreServices,
  tokens: TokenServices,
): Promise<SingleSignOn | undefined> {
  const settings = withProvider(core.settings);
  if (!settings) return undefined;
  const { SingleSignOn } = await import('../sessions/single-sign-on/single-sign-on.ts');
  return new SingleSignOn({
    ...core,
    ...tokens,
    settings,
    hasConsole: settings.console,
    onWarning: core.logOutage,
  });
}

async function createHealthServices(core: CoreServices) {
  const { database, log, worker } = core;
  const isReady = createReadiness({
    database,
    recheckFault: () => checkCurrent(database),
    onChange: (isUp, err) =>
      isUp
        ? log.info('the database responds again')
        : log.warn({ err }, 'The database does not respond. Requests fail with 503 until it responds again.'),
  });
  // A process without workers does the same as the first worker.
  const isFirstWorker = !worker || worker.number === 1;
  const backups = await openBackups(core, isFirstWorker);
  // The other workers do not have the result of the last backup.
  const backupState = backups && isFirstWorker ? () => backups.state() : undefined;
  const checkNow = singleFlight(() => checkHealth({ ...core, isReady, backupState }));
  return {
    isReady,
    isFirstWorker,
    backups,
    checkHealth: checkNow,
    readSizes: createSizeReader(database),
  };
}

/** The module is loaded only if backups are configured, to keep the start fast. */
async function openBackups(core: CoreServices, isMaker: boolean): Promise<ScheduledBackup | undefined> {
  const { databaseFile, settings } = core;
  // `readSettings` refuses a backup folder for PostgreSQL, which has no database file.
  if (settings.backupFolder === undefined || databaseFile === undefined) return undefined;
  const { ScheduledBackup } = await import('../maintenance/backup/scheduled-backup.ts');
  return ScheduledBackup.open({ ...core, databaseFile, folder: settings.backupFolder, isMaker });
}

type GraphDependencies = CoreServices &
  TokenServices & { readonly singleSignOn: SingleSignOn | undefined } & Awaited<
    ReturnType<typeof createHealthServices>
  >;

function createGraphService(services: GraphDependencies) {
  const { database, clock, passwords, throttle, viewTokens, feed, activity, version, secondFactors } =
    services;
  const { settings, worker, metrics, log, logOutage } = services;
  return createGraph({
    database,
    clock,
    passwords,
    throttle,
    secondFactors,
    viewTokens,
    singleSignOn: services.singleSignOn,
    feed,
    limits: settings,
    trashDays: settings.trashDays,
    accessCache: new AccessCache(database),
    server: {
      version,
      startedAt: clock.now(),
      node: worker ? `${hostname()} (worker ${worker.number} of ${worker.count})` : hostname(),
      databaseKind: services.databaseFile === undefined ? 'POSTGRESQL' : 'SQLITE',
      settings: services.displayedSettings ?? [],
      refreshTokenSeconds: settings.refreshTokenSeconds,
      activity,
      checkHealth: services.checkHealth,
      readGauges: () => readGauges(services),
    },
    onDocument: metrics?.countDocument,
    onQuery: metrics?.countQuery,
    onPlanFailure:
      services.onPlanFailure ??
      ((err) => {
        metrics?.countPlanFailure();
        log.error({ err }, 'A query plan failed, so graphql-js ran the query. This is a bug.');
      }),
    onBug: (err, requestId) => log.error({ requestId, err }, 'A field of a query failed. This is a bug.'),
    onUnavailable: (err) => logOutage('A field of a query cannot be read from the database right now.', err),
    tracing: services.tracing?.graph,
  });
}
