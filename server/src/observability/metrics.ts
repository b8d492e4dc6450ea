/**
 * What a node counts and measures, for Prometheus. Those who do the work tell it as it happens; what has a state is looked at
 * when somebody asks. Nothing of who asked for what is in it: no name, no id, no address.
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
import { catalogue, type MetricDescription, type MetricKey } from './metric-catalogue.ts';

/** What can be looked at. */
export interface MetricSources {
  readonly build: { readonly version: string; readonly database: 'sqlite' | 'postgresql' };
  readonly isReady: () => Promise<boolean>;
  /** There is one look at a time: a disk that does not answer is asked once. */
  readonly checkHealth: () => Promise<readonly WatchedCheck[]>;
  readonly passwords: { readonly hashing: { readonly running: number; readonly waiting: number } };
  readonly database: {
    connections(): { readonly open: number; readonly busy: number; readonly waiting: number };
  };
  /** If some are scheduled. */
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

interface WatchedCheck {
  readonly name: string;
  readonly isOk: boolean;
  readonly freeBytes?: number;
}

interface CountedRequest {
  readonly method: string;
  readonly route: string | undefined;
  readonly status: number;
  readonly ms: number;
  /** It took as long as somebody listened. */
  readonly isStream?: boolean;
}

/** What several workers have counted, in a form that can be sent. */
export type Samples = readonly MetricObject[];

/** Of Node and of the process, these say more than they cost. */
const passedOver = /^(nodejs_(active_|heap_space_|version_info)|process_(heap|virtual_memory)_bytes)/;
/** Of several workers: one that hangs must not be hidden by those that do not. */
const togetherOfProcess = { nodejs_eventloop_lag: 'max', process_start_time: 'min' } as const;
/** As long as a database may take to answer, and below what one of several workers has for all of it. */
const checkedWithinMs = 1_750;
const outcomes: Readonly<Record<number, string>> = { 200: 'ok', 401: 'refused', 429: 'throttled' };

export class Metrics {
  readonly #registry = new Registry();
  readonly #paths: { readonly login: string; readonly refresh: string };
  readonly #requests = this.#histogram('requests');
  readonly #errors = this.#counter('errors');
  readonly #logins = this.#counter('logins');
  readonly #refreshes = this.#counter('refreshes');
  readonly #replays = this.#counter('replays');
  readonly #prices = this.#histogram('queryCosts');
  readonly #documents = this.#counter('documents');
  readonly #queries = this.#counter('queries');
  readonly #planFailures = this.#counter('planFailures');
  readonly #database = this.#histogram('database');
  readonly #writeFailures = this.#counter('writeFailures');
  readonly #batches: { flush(): void }[] = [];
  readonly #requestBatch = this.#batched<CountedRequest>((request) => this.#countRequest(request));
  readonly #documentBatch = this.#batched<string>((result) => this.#documents.inc({ result }));
  readonly #priceBatch = this.#batched<number>((price) => this.#prices.observe(price));
  readonly #queryBatch = this.#batched<string>((engine) => this.#queries.inc({ engine }));
  readonly #statementBatch = this.#batched<number>((ms) =>
    this.#database.observe({ kind: 'statement' }, ms / 1000),
  );
  readonly #commitBatch = this.#batched<number>((ms) =>
    this.#database.observe({ kind: 'commit' }, ms / 1000),
  );

  /** By the addresses of which requests are logins, and refreshes. */
  constructor(paths: { readonly login: string; readonly refresh: string }) {
    this.#paths = paths;
    collectDefaultMetrics({ register: this.#registry });
    for (const metric of this.#registry.getMetricsAsArray()) {
      if (passedOver.test(metric.name)) this.#registry.removeSingleMetric(metric.name);
      const [, how] = Object.entries(togetherOfProcess).find(([name]) => metric.name.startsWith(name)) ?? [];
      if (how) Object.assign(metric, { aggregator: how });
    }
    // Before it happens for the first time: else nobody could tell that it did.
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

  /** Without a price if it is none that could be run. */
  readonly countDocument = (isKnown: boolean, price: number | undefined): void => {
    this.#documentBatch.add(isKnown ? 'hit' : 'miss');
    if (price !== undefined) this.#priceBatch.add(price);
  };

  readonly countQuery = (engine: 'plan' | 'graphql-js'): void => this.#queryBatch.add(engine);

  readonly countPlanFailure = (): void => this.#planFailures.inc();

  readonly timeDatabase = (kind: 'statement' | 'commit', ms: number): void =>
    (kind === 'statement' ? this.#statementBatch : this.#commitBatch).add(ms);

  readonly countWriteFailure = (reason: string): void => this.#writeFailures.inc({ reason });

  /** From now on these are looked at. */
  collectFrom(watched: MetricSources): void {
    const { build, isReady, checkHealth, passwords, database, backups, open, journal } = watched;
    for (const reason of watched.writeFailureReasons) this.#writeFailures.inc({ reason }, 0);
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
    const look = singleFlight(async () => {
      const isUp = await isReady();
      // A database that does not answer is not asked for more.
      const head = isUp ? await journal.readHead().catch(() => undefined) : undefined;
      // Looked at after it: what is committed meanwhile is no lag.
      return { isUp, head, lag: head && Math.max(0, head - journal.seen()) };
    });
    const checked = singleFlight(() =>
      withTimeout(
        checkedWithinMs,
        checkHealth().catch(() => undefined),
        undefined,
      ),
    );
    this.#gauge('checks', async (gauge) => {
      const found = await checked();
      gauge.reset();
      for (const { name, isOk } of found ?? []) gauge.set({ check: name }, isOk ? 1 : 0);
    });
    this.#gauge('diskFree', async (gauge) =>
      setOrRemove(gauge, (await checked())?.find(({ name }) => name === 'disk')?.freeBytes),
    );
    this.#gauge('ready', async (gauge) => gauge.set((await look()).isUp ? 1 : 0));
    this.#gauge('journalHead', async (gauge) => setOrRemove(gauge, (await look()).head));
    this.#gauge('journalLag', async (gauge) => setOrRemove(gauge, (await look()).lag));
  }

  /** As Prometheus reads it. */
  text(): Promise<string> {
    this.#countAll();
    return this.#registry.metrics();
  }

  samples(): Promise<Samples> {
    this.#countAll();
    return this.#registry.getMetricsAsJSON();
  }

  #countAll(): void {
    for (const batch of this.#batches) batch.flush();
  }

  #batched<T>(count: (item: T) => void): Batch<T> {
    const batch = new Batch(count);
    this.#batches.push(batch);
    return batch;
  }

  /** Some are counted elsewhere, and looked at. */
  #counter(key: MetricKey, look?: (counter: Counter) => void): Counter {
    const counter: Counter = new Counter({
      ...this.#described(key),
      ...(look && { collect: () => look(counter) }),
    });
    return counter;
  }

  #histogram(key: MetricKey) {
    const { bounds }: MetricDescription = catalogue[key];
    return new Histogram({ ...this.#described(key), ...(bounds && { buckets: [...bounds] }) });
  }

  #gauge(key: MetricKey, look: (gauge: Gauge) => void | Promise<void>): Gauge {
    const { aggregation }: MetricDescription = catalogue[key];
    const gauge: Gauge = new Gauge({
      ...this.#described(key),
      aggregator: aggregation ?? 'sum',
      collect: () => look(gauge),
    });
    return gauge;
  }

  #described(key: MetricKey) {
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

/** What is not known is not there: a zero would be a lie. */
function setOrRemove(gauge: Gauge, value: number | undefined): void {
  if (value === undefined) gauge.remove();
  else gauge.set(value);
}

/** As if all workers were one. */
export function formatMerged(samples: readonly Samples[]): Promise<string> {
  return merge(samples).metrics();
}

/** What they have counted, without what only is so at the moment. */
export async function mergeCounters(samples: readonly Samples[]): Promise<Samples> {
  const all = await merge(samples).getMetricsAsJSON();
  return all.filter(({ type }) => ['counter', 'histogram'].includes(String(type)));
}

function merge(samples: readonly Samples[]): Registry {
  return AggregatorRegistry.aggregate(samples as unknown as object[]);
}

/** Of the process and of Node, as they stand beside those of the catalogue. */
export const contentType = Registry.PROMETHEUS_CONTENT_TYPE;
