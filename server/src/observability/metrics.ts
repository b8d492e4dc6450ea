/**
 * The metrics of a node, for Prometheus. Events are counted when they happen; gauges are read for each scrape. No metric
 * contains a name, an id or an address of a user.
 */

import {
  AggregatorRegistry,
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  Registry,
  type MetricObject,
} from 'prom-client';
import { singleFlight } from '../concurrency/single-flight.ts';
import { withTimeout } from '../concurrency/timeout.ts';
import type { HealthCheck } from './health.ts';
import { catalogue, type MetricDescription, type MetricKey } from './metric-catalogue.ts';

/** The values that are read for each scrape. */
export interface MetricSources {
  readonly build: { readonly version: string; readonly database: 'sqlite' | 'postgresql' };
  readonly isReady: () => Promise<boolean>;
  /** Called once at a time, because a disk may not respond. */
  readonly checkHealth: () => Promise<readonly Pick<HealthCheck, 'name' | 'isOk' | 'freeBytes'>[]>;
  readonly passwords: { readonly hashing: { readonly running: number; readonly waiting: number } };
  readonly database: {
    connections(): { readonly open: number; readonly busy: number; readonly waiting: number };
  };
  /** Undefined if none are scheduled. */
  readonly backups: { readonly lastBackupAt: number | undefined; readonly failedCount: number } | undefined;
  readonly open: {
    readonly sockets: number;
    readonly subscriptions: number;
    readonly responses: { readonly computed: number; readonly shared: number };
  };
  /** Why a write can fail. */
  readonly writeFailureReasons: readonly string[];
  readonly journal: {
    /** The last entry that this node has seen. */
    readonly seen: () => number;
    readonly readHead: () => Promise<number>;
  };
}

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
/** How default metrics of several workers are merged: a blocked worker must not be hidden by the others. */
const processAggregators = { nodejs_eventloop_lag: 'max', process_start_time: 'min' } as const;
/** As long as a database may take to respond, and less than a worker has for all samples. */
const checkTimeoutMs = 1_750;
const outcomes: Readonly<Record<number, string>> = { 200: 'ok', 401: 'refused', 429: 'throttled' };

export class Metrics {
  readonly #registry = new Registry();
  readonly #paths: { readonly login: string; readonly refresh: string };
  readonly #requests = this.#histogram('requests');
  readonly #errors = this.#counter('errors');
  readonly #logins = this.#counter('logins');
  readonly #refreshes = this.#counter('refreshes');
  readonly #replays = this.#counter('replays');
  readonly #costs = this.#histogram('queryCosts');
  readonly #documents = this.#counter('documents');
  readonly #queries = this.#counter('queries');
  readonly #planFailures = this.#counter('planFailures');
  readonly #database = this.#histogram('database');
  readonly #writeFailures = this.#counter('writeFailures');
  readonly #batches: { flush(): void }[] = [];
  readonly #requestBatch = this.#batched<CountedRequest>((request) => this.#countRequest(request));
  readonly #documentBatch = this.#batched<string>((result) => this.#documents.inc({ result }));
  readonly #costBatch = this.#batched<number>((cost) => this.#costs.observe(cost));
  readonly #queryBatch = this.#batched<string>((engine) => this.#queries.inc({ engine }));
  readonly #statementBatch = this.#batched<number>((ms) =>
    this.#database.observe({ kind: 'statement' }, ms / 1000),
  );
  readonly #commitBatch = this.#batched<number>((ms) =>
    this.#database.observe({ kind: 'commit' }, ms / 1000),
  );

  /** `paths` are the routes of logins and refreshes. */
  constructor(paths: { readonly login: string; readonly refresh: string }) {
    this.#paths = paths;
    collectDefaultMetrics({ register: this.#registry });
    for (const metric of this.#registry.getMetricsAsArray()) {
      if (excludedMetrics.test(metric.name)) this.#registry.removeSingleMetric(metric.name);
      const [, aggregator] =
        Object.entries(processAggregators).find(([name]) => metric.name.startsWith(name)) ?? [];
      if (aggregator) Object.assign(metric, { aggregator });
    }
    // With zero from the start, otherwise Prometheus would not see the first increase.
    for (const outcome of ['ok', 'refused', 'throttled', 'failed']) this.#logins.inc({ outcome }, 0);
    for (const outcome of ['ok', 'refused', 'failed']) this.#refreshes.inc({ outcome }, 0);
    for (const outcome of ['tolerated', 'ended']) this.#replays.inc({ outcome }, 0);
    for (const result of ['hit', 'miss']) this.#documents.inc({ result }, 0);
    for (const engine of ['plan', 'graphql-js']) this.#queries.inc({ engine }, 0);
  }

  readonly countRequest = (request: CountedRequest): void => this.#requestBatch.add(request);

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
    this.#documentBatch.add(isCached ? 'hit' : 'miss');
    if (cost !== undefined) this.#costBatch.add(cost);
  };

  readonly countQuery = (engine: 'plan' | 'graphql-js'): void => this.#queryBatch.add(engine);

  readonly countPlanFailure = (): void => this.#planFailures.inc();

  readonly timeDatabase = (kind: 'statement' | 'commit', ms: number): void =>
    (kind === 'statement' ? this.#statementBatch : this.#commitBatch).add(ms);

  readonly countWriteFailure = (reason: string): void => this.#writeFailures.inc({ reason });

  /** Adds the metrics that are read for each scrape. */
  collectFrom(sources: MetricSources): void {
    const { build, passwords, database, backups, open } = sources;
    for (const reason of sources.writeFailureReasons) this.#writeFailures.inc({ reason }, 0);
    this.#gauge('build', (gauge) => gauge.set({ ...build }, 1));
    this.#gauge('workers', (gauge) => gauge.set(1));
    this.#gauge('hashing', (gauge) => {
      const { running, waiting } = passwords.hashing;
      gauge.set({ state: 'running' }, running);
      gauge.set({ state: 'waiting' }, waiting);
    });
    this.#gauge('connections', (gauge) => {
      const connections = database.connections();
      gauge.set({ state: 'open' }, connections.open);
      gauge.set({ state: 'busy' }, connections.busy);
    });
    this.#gauge('databaseWaiting', (gauge) => gauge.set(database.connections().waiting));
    this.#gauge('lastBackup', (gauge) => {
      const at = backups?.lastBackupAt;
      setOrRemove(gauge, at === undefined ? undefined : at / 1000);
    });
    this.#counter('backupFailures', (counter) => {
      counter.reset();
      counter.inc(backups?.failedCount ?? 0);
    });
    this.#gauge('sockets', (gauge) => gauge.set(open.sockets));
    this.#gauge('subscriptions', (gauge) => gauge.set(open.subscriptions));
    this.#counter('responses', (counter) => {
      counter.reset();
      counter.inc({ source: 'computed' }, open.responses.computed);
      counter.inc({ source: 'shared' }, open.responses.shared);
    });
    this.#collectHealth(sources);
  }

  #collectHealth({ isReady, checkHealth, journal }: MetricSources): void {
    const readJournal = singleFlight(async () => {
      const isUp = await isReady();
      // A database that does not respond is not queried again.
      const head = isUp ? await journal.readHead().catch(() => undefined) : undefined;
      // Read after the head, so that a commit in between does not count as lag.
      return { isUp, head, lag: head && Math.max(0, head - journal.seen()) };
    });
    const runChecks = singleFlight(() =>
      withTimeout(
        checkTimeoutMs,
        checkHealth().catch(() => undefined),
        undefined,
      ),
    );
    this.#gauge('checks', async (gauge) => {
      const checks = await runChecks();
      gauge.reset();
      for (const { name, isOk } of checks ?? []) gauge.set({ check: name }, isOk ? 1 : 0);
    });
    this.#gauge('diskFree', async (gauge) =>
      setOrRemove(gauge, (await runChecks())?.find(({ name }) => name === 'disk')?.freeBytes),
    );
    this.#gauge('ready', async (gauge) => gauge.set((await readJournal()).isUp ? 1 : 0));
    this.#gauge('journalHead', async (gauge) => setOrRemove(gauge, (await readJournal()).head));
    this.#gauge('journalLag', async (gauge) => setOrRemove(gauge, (await readJournal()).lag));
  }

  /** In the text format of Prometheus. */
  text(): Promise<string> {
    this.#flushAll();
    return this.#registry.metrics();
  }

  samples(): Promise<Samples> {
    this.#flushAll();
    return this.#registry.getMetricsAsJSON();
  }

  #flushAll(): void {
    for (const batch of this.#batches) batch.flush();
  }

  #batched<T>(count: (item: T) => void): Batch<T> {
    const batch = new Batch(count);
    this.#batches.push(batch);
    return batch;
  }

  /** `collect` copies a counter that is counted elsewhere. */
  #counter(key: MetricKey, collect?: (counter: Counter) => void): Counter {
    const counter: Counter = new Counter({
      ...this.#describe(key),
      ...(collect && { collect: () => collect(counter) }),
    });
    return counter;
  }

  #histogram(key: MetricKey) {
    const { bounds }: MetricDescription = catalogue[key];
    return new Histogram({ ...this.#describe(key), ...(bounds && { buckets: [...bounds] }) });
  }

  #gauge(key: MetricKey, collect: (gauge: Gauge) => void | Promise<void>): Gauge {
    const { aggregation }: MetricDescription = catalogue[key];
    const gauge: Gauge = new Gauge({
      ...this.#describe(key),
      aggregator: aggregation ?? 'sum',
      collect: () => collect(gauge),
    });
    return gauge;
  }

  #describe(key: MetricKey) {
    const { name, help, labels = {} }: MetricDescription = catalogue[key];
    return { name, help, labelNames: Object.keys(labels), registers: [this.#registry] };
  }
}

const maxBatched = 256;

/** Counts in batches: one by one, in the middle of a request, prom-client takes several times as long. */
class Batch<T> {
  readonly #count: (item: T) => void;
  #items: T[] = [];

  constructor(count: (item: T) => void) {
    this.#count = count;
  }

  add(item: T): void {
    if (this.#items.push(item) >= maxBatched) this.flush();
  }

  flush(): void {
    for (const item of this.#items) this.#count(item);
    this.#items = [];
  }
}

/** An unknown value is removed, because zero would be wrong. */
function setOrRemove(gauge: Gauge, value: number | undefined): void {
  if (value === undefined) gauge.remove();
  else gauge.set(value);
}

/** The metrics of all workers together, in the text format of Prometheus. */
export function formatMerged(samples: readonly Samples[]): Promise<string> {
  return merge(samples).metrics();
}

/** The counters and histograms of all workers together, without gauges. */
export async function mergeCounters(samples: readonly Samples[]): Promise<Samples> {
  const all = await merge(samples).getMetricsAsJSON();
  return all.filter(({ type }) => ['counter', 'histogram'].includes(String(type)));
}

function merge(samples: readonly Samples[]): Registry {
  return AggregatorRegistry.aggregate(samples as unknown as object[]);
}

export const contentType = Registry.PROMETHEUS_CONTENT_TYPE;
