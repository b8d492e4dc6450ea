/**
 * The primary of a cluster: starts the workers, restarts a worker that ends, and stops all workers together. Each worker
 * listens on the port itself. The primary handles no request and never opens the database. All workers belong to one node: changes
 * of other nodes arrive in `journal/journal-feed.ts`.
 */

import cluster from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Settings } from '../config/settings-table.ts';
import type { NewAdministrator } from '../startup/installation.ts';
import { openScrapePort } from '../startup/telemetry.ts';
import { baseUrl, requireFreePorts, requireReusePort } from '../http/listen.ts';
import type { MetricsPort } from '../observability/metrics.ts';
import type { DisplayedSetting } from '../config/setting.ts';
import { StartError } from '../config/start-error.ts';
import type { ClusterMetrics } from './cluster-metrics.ts';
import type { ToPrimary, ToWorker, WorkerSetup } from './messages.ts';
import { SharedState } from './shared-state.ts';

export interface ClusterOptions {
  readonly settings: Settings;
  readonly displayedSettings: readonly DisplayedSetting[];
  readonly log: Logger;
  /** Cancels the start. */
  readonly signal: AbortSignal;
  readonly onNewAdministrator: (administrator: NewAdministrator) => void;
}

/** Thrown if a worker ends before the whole cluster is ready. The message is empty if the worker has already logged the reason. */
export class WorkerFailedError extends Error {
  override readonly name = 'WorkerFailedError';
  readonly exitCode: number;
  constructor(exitCode: number, message = '') {
    super(message);
    this.exitCode = exitCode;
  }
}

const minBackoffMs = 100;
const maxBackoffMs = 30_000;
/** A worker that ends after this time restarts with the smallest backoff. */
const steadyMs = 60_000;
/** The cluster gives up after this number of failed starts in a row, if no worker is running. */
const maxFailures = 5;
/** Added to the time that a worker has to stop, before it is killed. */
const killGraceMs = 5_000;

export class Primary {
  readonly #options: ClusterOptions;
  readonly #sharedState = new SharedState();
  readonly #workers = new Set<WorkerProcess>();
  readonly #broken = Promise.withResolvers<never>();
  /** Rejects when no worker is running and none can be started. */
  readonly broken = this.#broken.promise;
  readonly #stopping = new AbortController();
  /** Failed starts since a worker was last ready. */
  #failures = 0;
  /** The configured port. If it is 0, the port of the first worker replaces it. */
  #port: number;
  #metrics: ClusterMetrics | undefined;
  #metricsPort: MetricsPort | undefined;

  /** Resolves when all workers are ready. If a worker cannot start, stops all workers and rejects with `WorkerFailedError` or `StartError`. */
  static async start(options: ClusterOptions): Promise<Primary> {
    const primary = new Primary(options);
    try {
      await primary.#start();
      return primary;
    } catch (error) {
      await primary.close();
      options.signal.throwIfAborted();
      throw error;
    }
  }

  private constructor(options: ClusterOptions) {
    this.#options = options;
    this.#port = options.settings.port;
    this.broken.catch(() => undefined);
    options.signal.addEventListener('abort', () => void this.close());
  }

  get url(): string {
    return baseUrl(this.#options.settings, this.#port);
  }

  get metricsUrl(): string | undefined {
    return this.#metricsPort?.url;
  }

  get #isStopping(): boolean {
    return this.#stopping.signal.aborted;
  }

  async close(): Promise<void> {
    this.#stopping.abort();
    const { stopDelaySeconds, stopSeconds } = this.#options.settings;
    const maxStopMs = (stopDelaySeconds + stopSeconds) * 1000 + killGraceMs;
    const killTimer = setTimeout(() => this.#workers.forEach((worker) => worker.kill()), maxStopMs);
    this.#workers.forEach((worker) => worker.send({ kind: 'stop' }));
    await Promise.all([...this.#workers].map(({ ended }) => ended));
    clearTimeout(killTimer);
    await this.#metricsPort?.close();
  }

  async #start(): Promise<void> {
    const { settings, signal } = this.#options;
    await requireFreePorts(settings);
    await requireReusePort(settings);
    // The first worker starts alone: it prepares the database and reports errors of the database and of the port.
    await this.#fork(1, { isFirst: true }).ready;
    signal.throwIfAborted();
    await this.#openMetrics();
    const others = Array.from({ length: settings.workers - 1 }, (_, index) => this.#fork(index + 2));
    await Promise.all(others.map(({ ready }) => ready));
    signal.throwIfAborted();
    if (this.#workers.size < settings.workers)
      throw new WorkerFailedError(1, 'A worker ended during the start.');
    for (const worker of this.#workers) worker.mayRestart = true;
  }

  /** Loads the metrics code only if the metrics port is set. */
  async #openMetrics(): Promise<void> {
    if (this.#options.settings.metricsPort === undefined) return;
    const { ClusterMetrics } = await import('./cluster-metrics.ts');
    const metrics = new ClusterMetrics(() => [...this.#workers].filter(({ wasReady }) => wasReady));
    this.#metrics = metrics;
    this.#metricsPort = await openScrapePort(() => metrics.text(), this.#options);
  }

  #fork(number: number, { isFirst = false, backoffMs = minBackoffMs } = {}): WorkerProcess {
    const { settings, displayedSettings } = this.#options;
    const setup: WorkerSetup = {
      settings: { ...settings, port: this.#port },
      displayedSettings,
      number,
      count: settings.workers,
      isFirst,
    };
    const worker = new WorkerProcess(setup, (message) => this.#onMessage(worker, message));
    this.#workers.add(worker);
    void worker.ended.then((exit) => this.#onEnd(worker, exit, backoffMs));
    return worker;
  }

  #onEnd(worker: WorkerProcess, { code, signal }: Exit, backoffMs: number): void {
    this.#workers.delete(worker);
    this.#sharedState.remove(worker);
    void this.#metrics?.remove(worker);
    if (this.#isStopping || !worker.mayRestart) return;
    const { number } = worker.setup;
    const restartMs = worker.readyForMs > steadyMs ? minBackoffMs : backoffMs;
    this.#options.log.error(
      { worker: number, code, signal, restartMs },
      'A worker ended unexpectedly. The server starts another one.',
    );
    if (!worker.wasReady) this.#failures++;
    if (this.#failures >= maxFailures && ![...this.#workers].some(({ wasReady }) => wasReady)) {
      this.#broken.reject(new StartError('No worker can be started. See the log for the reason.'));
      return;
    }
    // This timer keeps the primary running while it has no worker.
    delay(restartMs, undefined, { signal: this.#stopping.signal }).then(
      () => this.#restart(number, Math.min(2 * restartMs, maxBackoffMs)),
      () => undefined,
    );
  }

  #restart(number: number, backoffMs: number): void {
    const worker = this.#fork(number, { backoffMs });
    worker.mayRestart = true;
    worker.ready.then(
      () => this.#options.log.info({ worker: number }, 'a worker is ready again'),
      ({ message }: WorkerFailedError) => message && this.#options.log.error({ worker: number }, message),
    );
  }

  #onMessage(worker: WorkerProcess, message: ToPrimary): void {
    switch (message.kind) {
      case 'connected':
        // The worker is added before it is ready, because the first worker requests a permit to hash the new administrator's password.
        this.#sharedState.add(worker);
        return worker.send(this.#isStopping ? { kind: 'stop' } : { kind: 'start', setup: worker.setup });
      case 'administrator':
        return this.#options.onNewAdministrator(message.created);
      case 'ready':
        this.#failures = 0;
        this.#port = message.port;
        return worker.markReady();
      case 'samples':
        return this.#metrics?.take(message.ticket, message.samples);
      case 'failed':
        return worker.fail(new WorkerFailedError(message.exitCode, message.message));
      case 'committed':
      case 'join':
      case 'leave':
      case 'acquire permit':
      case 'release permit':
      case 'local connections':
        return this.#sharedState.handle(worker, message);
    }
  }
}

interface Exit {
  readonly code: number;
  readonly signal: string;
}

/** One worker process, from its start to its end. */
class WorkerProcess {
  readonly setup: WorkerSetup;
  /** False until all workers of the cluster are ready. If a worker ends earlier, the start of the cluster fails. */
  mayRestart = false;
  readonly #ready = Promise.withResolvers<void>();
  /** Rejects with a `WorkerFailedError` if the worker ends before it is ready. */
  readonly ready = this.#ready.promise;
  readonly ended: Promise<Exit>;
  readonly #process = cluster.fork();
  #readySince: number | undefined;

  constructor(setup: WorkerSetup, onMessage: (message: ToPrimary) => void) {
    this.setup = setup;
    this.ready.catch(() => undefined);
    this.#process.on('message', onMessage);
    // The error is, for example, a message that could not be sent because the worker has ended. An `exit` event follows.
    this.#process.on('error', () => undefined);
    this.ended = new Promise((resolve) => {
      this.#process.on('exit', (code, signal) => {
        this.fail(new WorkerFailedError(code || 1));
        resolve({ code, signal });
      });
    });
  }

  get wasReady(): boolean {
    return this.#readySince !== undefined;
  }

  get readyForMs(): number {
    return this.#readySince === undefined ? 0 : performance.now() - this.#readySince;
  }

  markReady(): void {
    this.#readySince = performance.now();
    this.#ready.resolve();
  }

  fail(reason: WorkerFailedError): void {
    this.#ready.reject(reason);
  }

  send(message: ToWorker): void {
    if (this.#process.isConnected()) this.#process.send(message, undefined, () => undefined);
  }

  kill(): void {
    this.#process.process.kill('SIGKILL');
  }
}
