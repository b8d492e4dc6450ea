/**
 * The metrics of a node, for Prometheus. Events are counted when they happen; gauges are read for each scrape. No metric
 * contains a name, an id or an address of a user.
 */

import { once } from 'node:events';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry, type MetricObject } from 'prom-client';
import type { PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { singleFlight } from '../concurrency/single-flight.ts';
import { withTimeout } from '../concurrency/timeout.ts';
import type { Database } from '../database/database.ts';
import { writeFailureReasons } from '../database/faults.ts';
import type { Activity } from './activity.ts';
import type { Sizes } from './gauges.ts';
import type { HealthCheck } from './health.ts';
import { catalog, type MetricKey } from './metric-catalog.ts';

/** The values that are read for each scrape. */
export interface MetricSources {
  readonly build: { readonly version: string; readonly database: 'sqlite' | 'postgresql' };
  readonly isReady: () => Promise<boolean>;
  /** Never called twice at the same time, because a disk may not respond. */
  readonly checkHealth: () => Promise<readonly Pick<HealthCheck, 'name' | 'isOk' | 'freeBytes'>[]>;
  readonly passwords: { readonly hashing: { readonly running: number; readonly waiting: number } };
  readonly database: Pick<Database, 'connections'>;
  /** Undefined if no backups are scheduled. */
  readonly backups: { readonly lastBackupAt: number | undefined; readonly failedCount: number } | undefined;
  readonly activity: Pick<Activity, 'sockets' | 'subscriptions' | 'responses'>;
  readonly readSizes: () => Promise<Sizes>;
  /** `last` is the number of the last entry that this node has seen. */
  readonly feed: { readonly last: number };
  /** Reads the number of the last entry in the journal. */
  readonly readHead: () => Promise<number>;
}

/** One number, or one for each value of the metric's label. Undefined if the number is unknown. */
type Reading = number | Readonly<Record<string, number>> | undefined;

interface CountedRequest {
  readonly method: string;
  readonly route: string | undefined;
  readonly status: number;
  readonly ms: number;
  /** The duration of an event stream depends on the client and is not recorded. */
  readonly isStream?: boolean;
}

/** The metrics of one worker, in a form that can be sent to the primary. */
export type Samples = readonly MetricObject[];

/** Default metrics of Node that cost more than they are worth. */
const excludedMetrics = /^(nodejs_(active_|heap_space_|version_info)|process_(heap|virtual_memory)_bytes)/;
/** How long a check may take. Shorter than the time in which a worker must send all samples. */
const checkTimeoutMs = 1_750;
const maxPendingCounts = 256;
const outcomes: Readonly<Record<number, string>> = { 200: 'ok', 401: 'refused', 429: 'throttled' };

export class Metrics {
  readonly #registry = new Registry();
  readonly #paths: { readonly login: string; readonly refresh: string };
  readonly #requests = this.#histogram('requests');
  readonly #errors = this.#counter('errors');
  // Counters with labels start at zero, because otherwise Prometheus would not see the first increase.
  readonly #logins = this.#counter('logins', ['ok', 'refused', 'throttled', 'failed']);
  readonly #refreshes = this.#counter('refreshes', ['ok', 'refused', 'failed']);
  readonly #replays = this.#counter('replays', ['tolerated', 'ended']);
  readonly #costs = this.#histogram('queryCosts');
  readonly #documents = this.#counter('documents', ['hit', 'miss']);
  readonly #queries = this.#counter('queries', ['plan', 'graphql-js']);
  readonly #planFailures = this.#counter('planFailures');
  readonly #database = this.#histogram('database');
  readonly #writeFailures = this.#counter('writeFailures', writeFailureReasons);
  #pendingCounts: (() => void)[] = [];

  /** `paths` are the routes of logins and refreshes. */
  constructor(paths: { readonly login: string; readonly refresh: string }) {
    this.#paths = paths;
    collectDefaultMetrics({ register: this.#registry });
    for (const metric of this.#registry.getMetricsAsArray()) {
      if (excludedMetrics.test(metric.name)) this.#registry.removeSingleMetric(metric.name);
      // The maximum of all workers, so that the other workers do not hide a blocked one.
      if (metric.name.startsWith('nodejs_eventloop_lag')) Object.assign(metric, { aggregator: 'max' });
      if (metric.name.startsWith('process_start_time')) Object.assign(metric, { aggregator: 'min' });
    }
  }

  readonly countRequest = (request: CountedRequest): void => this.#defer(() => this.#countRequest(request));

  #countRequest({ method, route = 'none', status, ms, isStream }: CountedRequest): void {
    if (isStream) return;
    this.#requests.observe({ method, route, status }, ms / 1000);
    if (status >= 500 && status !== 503) this.#errors.inc();
    if (method !== 'POST') return;
    if (route === this.#paths.login) this.#logins.inc({ outcome: outcomes[status] ?? 'failed' });
    if (route === this.#paths.refresh) this.#refreshes.inc({ outcome: outcomes[status] ?? 'failed' });
  }

  readonly countReplay = (outcome: 'tolerated' | 'ended'): void => this.#replays.inc({ outcome });

  /** The cost is undefined if the document is invalid. */
  readonly countDocument = (isCached: boolean, cost: number | undefined): void => {
    this.#defer(() => {
      this.#documents.inc({ result: isCached ? 'hit' : 'miss' });
      if (cost !== undefined) this.#costs.observe(cost);
    });
  };

  readonly countQuery = (engine: 'plan' | 'graphql-js'): void =>
    this.#defer(() => this.#queries.inc({ engine }));

  readonly countPlanFailure = (): void => this.#planFailures.inc();

  readonly timeDatabase = (kind: 'statement' | 'commit', ms: number): void =>
    this.#defer(() => this.#database.observe({ kind }, ms / 1000));

  readonly countWriteFailure = (reason: string): void => this.#writeFailures.inc({ reason });

  /** Adds the metrics that are read for each scrape. */
  collectFrom(sources: MetricSources): void {
    const { build, passwords, database, backups, activity } = sources;
    new Gauge(this.#describe('build')).set({ ...build }, 1);
    this.#collect('workers', () => 1);
    this.#collect('hashing', () => {
      const { running, waiting } = passwords.hashing;
      return { running, waiting };
    });
    this.#collect('connections', () => {
      const { open, busy } = database.connections();
      return { open, busy };
    });
    this.#collect('databaseWaiting', () => database.connections().waiting);
    this.#collect('lastBackup', () => backups?.lastBackupAt && backups.lastBackupAt / 1000);
    this.#collect('backupFailures', () => backups?.failedCount ?? 0);
    this.#collect('sockets', () => activity.sockets);
    this.#collect('subscriptions', () => activity.subscriptions);
    this.#collect('responses', () => ({ ...activity.responses }));
    this.#collectHealth(sources);
    this.#collectSizes(sources);
  }

  #collectSizes({ isReady, readSizes }: MetricSources): void {
    const read = singleFlight(async () =>
      // A database that does not respond is not queried again.
      (await isReady()) ? readSizes().catch(() => undefined) : undefined,
    );
    this.#collect('folders', async () => (await read())?.folders);
    this.#collect('users', async () => (await read())?.users);
    this.#collect('databaseSize', async () => (await read())?.databaseBytes);
  }

  #collectHealth({ isReady, checkHealth, feed, readHead }: MetricSources): void {
    const readJournal = singleFlight(async () => {
      const isUp = await isReady();
      // A database that does not respond is not queried again.
      const head = isUp ? await readHead().catch(() => undefined) : undefined;
      // Read after the head, so that a commit in between does not count as lag.
      return { isUp, head, lag: head && Math.max(0, head - feed.last) };
    });
    const runChecks = singleFlight(async () => {
      const checks = checkHealth().catch(() => undefined);
      return (await withTimeout(checkTimeoutMs, checks, undefined)) ?? [];
    });
    this.#collect('checks', async () =>
      Object.fromEntries((await runChecks()).map(({ name, isOk }) => [name, Number(isOk)])),
    );
    this.#collect('diskFree', async () => (await runChecks()).find(({ name }) => name === 'disk')?.freeBytes);
    this.#collect('ready', async () => Number((await readJournal()).isUp));
    this.#collect('journalHead', async () => (await readJournal()).head);
    this.#collect('journalLag', async () => (await readJournal()).lag);
  }

  /** Returns the metrics in the text format of Prometheus. */
  text(): Promise<string> {
    this.#countPending();
    return this.#registry.metrics();
  }

  samples(): Promise<Samples> {
    this.#countPending();
    return this.#registry.getMetricsAsJSON();
  }

  /** Counts in batches, because prom-client takes several times as long if each event is counted in the middle of a request. */
  #defer(count: () => void): void {
    if (this.#pendingCounts.push(count) >= maxPendingCounts) this.#countPending();
  }

  #countPending(): void {
    for (const count of this.#pendingCounts) count();
    this.#pendingCounts = [];
  }

  /** `values` are the values of the label of the metric. */
  #counter(key: MetricKey, values: readonly string[] = []): Counter {
    const counter = new Counter(this.#describe(key));
    for (const value of values) counter.inc({ [onlyLabel(key)]: value }, 0);
    return counter;
  }

  #histogram(key: MetricKey): Histogram {
    return new Histogram({ ...this.#describe(key), buckets: [...(catalog[key].bounds ?? [])] });
  }

  /** Adds a gauge, or a counter that is counted elsewhere. `read` is called for each scrape. */
  #collect(key: MetricKey, read: () => PromiseOrValue<Reading>): void {
    const Metric = catalog[key].type === 'counter' ? Counter : Gauge;
    const metric: Counter | Gauge = new Metric({
      ...this.#describe(key),
      collect: async () => {
        const reading = await read();
        metric.reset();
        // An unknown value is removed, because zero would be wrong.
        if (reading === undefined) metric.remove();
        else if (typeof reading === 'number') metric.inc(reading);
        else
          for (const [value, count] of Object.entries(reading))
            metric.inc({ [onlyLabel(key)]: value }, count);
      },
    });
  }

  #describe(key: MetricKey) {
    const { name, help, labels = {}, aggregation } = catalog[key];
    const aggregator = aggregation ?? ('sum' as const);
    return { name, help, labelNames: Object.keys(labels), aggregator, registers: [this.#registry] };
  }
}

function onlyLabel(key: MetricKey): string {
  return Object.keys(catalog[key].labels ?? {})[0]!;
}

export interface MetricsPort {
  readonly url: string;
  close(): Promise<void>;
}

interface MetricsPortOptions {
  readonly host: string;
  readonly port: number;
  readonly text: () => Promise<string>;
  readonly onError: (error: unknown) => void;
}

const path = '/metrics';
/** Only a few programs scrape, each for a short time. */
const maxConnections = 32;
const requestTimeoutMs = 10_000;

/** Opens a separate port for Prometheus, because metrics require no token. */
export async function openMetricsPort(options: MetricsPortOptions): Promise<MetricsPort> {
  const { host, port, text, onError } = options;
  // Not imported, see http/errors.ts.
  const { createServer } = process.getBuiltinModule('node:http');
  const server = createServer({ requestTimeout: requestTimeoutMs, keepAliveTimeout: requestTimeoutMs });
  server.maxConnections = maxConnections;
  server.on('request', ({ url = '', method }, response) => {
    response.setHeader('x-content-type-options', 'nosniff');
    if (url.split('?', 1)[0] !== path) {
      response.writeHead(404, { 'content-type': 'text/plain' }).end(`This port serves only ${path}.\n`);
      return;
    }
    if (method !== 'GET' && method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD' }).end();
      return;
    }
    text().then(
      (body) => response.writeHead(200, { 'content-type': Registry.PROMETHEUS_CONTENT_TYPE }).end(body),
      (error: unknown) => {
        onError(error);
        response.writeHead(500).end();
      },
    );
  });
  server.listen({ host, port });
  await once(server, 'listening');
  const { port: boundPort } = server.address() as { port: number };
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${boundPort}${path}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
