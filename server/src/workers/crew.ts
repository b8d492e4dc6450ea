/**
 * The primary of several workers: starts them, hands them the connections of one port, starts another when one ends, and
 * stops them together. It serves no request and never opens the database.
 */

import cluster from 'node:cluster';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Settings } from '../config.ts';
import type { NewAdministrator } from '../first-start.ts';
import { baseUrl, listenOrExplain, requireFreePorts } from '../http/address.ts';
import type { MetricsPort } from '../metrics/metrics-port.ts';
import type { ShownSetting } from '../shown-setting.ts';
import { StartError } from '../start-error.ts';
import type { CrewMetrics } from './crew-metrics.ts';
import type { Orders, Report, ToPrimary, ToWorker } from './messages.ts';
import { SharedPort } from './shared-port.ts';
import { SharedWork } from './shared-work.ts';

export interface CrewOptions {
  readonly settings: Settings;
  readonly shownSettings: readonly ShownSetting[];
  readonly log: Logger;
  /** Ends the start. */
  readonly signal: AbortSignal;
  readonly onNewAdministrator: (administrator: NewAdministrator) => void;
}

/** Why a worker could not start; it has told nothing yet if there is a message. */
export class WorkerFailed extends Error {
  override readonly name = 'WorkerFailed';
  readonly exitCode: number;
  constructor(exitCode: number, message = '') {
    super(message);
    this.exitCode = exitCode;
  }
}

const firstPauseMs = 100;
const longestPauseMs = 30_000;
/** Who has served for so long and then ends is started again as if it had been the first time. */
const steadyMs = 60_000;
/** So many starts in a row may fail while nobody serves. */
const mostFailures = 5;
/** To one worker: whatever else it is told stands in line behind them. */
const mostOnTheWay = 256;
/** Beyond what a worker gives itself to stop. */
const killAfterMs = 5_000;

export class Crew {
  readonly #options: CrewOptions;
  readonly #port = new SharedPort();
  readonly #work = new SharedWork();
  readonly #members = new Set<Member>();
  readonly #broken = Promise.withResolvers<never>();
  /** Starts since a worker was ready. */
  #failures = 0;
  #isStopping = false;
  #url = '';
  #metrics: CrewMetrics | undefined;
  #metricsPort: MetricsPort | undefined;

  /** Resolves when all of them serve. Rejects with a `WorkerFailed` or a `StartError` if one cannot, and leaves none behind. */
  static async start(options: CrewOptions): Promise<Crew> {
    const crew = new Crew(options);
    try {
      await crew.#start();
      return crew;
    } catch (error) {
      await crew.close();
      options.signal.throwIfAborted();
      throw error;
    }
  }

  private constructor(options: CrewOptions) {
    this.#options = options;
    this.#broken.promise.catch(() => undefined);
    options.signal.addEventListener('abort', () => void this.close());
  }

  get url(): string {
    return this.#url;
  }

  get metricsUrl(): string | undefined {
    return this.#metricsPort?.url;
  }

  /** Rejects when none of them can be started any more. */
  get broken(): Promise<never> {
    return this.#broken.promise;
  }

  async close(): Promise<void> {
    this.#isStopping = true;
    const { stopDelaySeconds, stopSeconds } = this.#options.settings;
    const late = new AbortController();
    void delay((stopDelaySeconds + stopSeconds) * 1000 + killAfterMs, undefined, late)
      .then(() => this.#members.forEach((member) => member.kill()))
      .catch(() => undefined);
    this.#members.forEach((member) => member.tell({ kind: 'stop' }));
    await Promise.all([...this.#members].map(({ gone }) => gone));
    late.abort();
    await this.#port.close();
    await this.#metricsPort?.close();
  }

  async #start(): Promise<void> {
    const { settings, signal } = this.#options;
    await requireFreePorts(settings);
    // The first one alone: it prepares the database, and finds out whether it can be used at all.
    await this.#hire(1).ready;
    signal.throwIfAborted();
    await this.#openMetrics();
    this.#url = baseUrl(settings, await this.#port.listen(settings));
    const others = Array.from({ length: settings.workers - 1 }, (_, place) => this.#hire(place + 2));
    await Promise.all(others.map(({ ready }) => ready));
    signal.throwIfAborted();
    if (this.#members.size < settings.workers) throw new WorkerFailed(1, 'A worker ended during the start.');
    for (const member of this.#members) member.isNew = false;
  }

  /** What it takes is loaded only if somebody wants it. */
  async #openMetrics(): Promise<void> {
    const { metricsHost: host, metricsPort: port } = this.#options.settings;
    if (port === undefined) return;
    const { CrewMetrics } = await import('./crew-metrics.ts');
    const metrics = new CrewMetrics(() => [...this.#members].filter(({ hasServed }) => hasServed));
    const onError = (err: unknown) => this.#options.log.warn({ err }, 'metrics could not be read');
    this.#metrics = metrics;
    this.#metricsPort = await listenOrExplain(
      () => metrics.open({ host, port, onError }),
      { host, port },
      'METRICS_PORT',
    );
  }

  #hire(place: number, pauseMs = firstPauseMs): Member {
    const { settings, shownSettings, log } = this.#options;
    const orders = { settings, shownSettings, place, count: settings.workers };
    const member = new Member(orders, (message) => {
      if ('sharing' in message) this.#work.hear(member, message.sharing);
      else this.#hear(member, message.report);
    });
    this.#members.add(member);
    void member.gone.then(({ code, signal }) => {
      this.#members.delete(member);
      this.#port.remove(member);
      this.#work.remove(member);
      void this.#metrics?.remove(member);
      // Nothing of them has been read: another one can serve them.
      for (const socket of member.takeBack()) this.#port.handOut(socket);
      if (this.#isStopping || member.isNew) return;
      const restartMs = member.servedMs > steadyMs ? firstPauseMs : pauseMs;
      log.error({ worker: place, code, signal, restartMs }, 'a worker has ended: another takes its place');
      if (!member.hasServed) this.#failures++;
      if (this.#failures >= mostFailures && ![...this.#members].some(({ hasServed }) => hasServed)) {
        this.#broken.reject(new StartError('No worker can be started: the log says why.'));
        return;
      }
      setTimeout(() => this.#replace(place, Math.min(2 * restartMs, longestPauseMs)), restartMs).unref();
    });
    return member;
  }

  #replace(place: number, pauseMs: number): void {
    if (this.#isStopping) return;
    const member = this.#hire(place, pauseMs);
    member.isNew = false;
    member.ready.then(
      () => this.#options.log.info({ worker: place }, 'a worker serves again'),
      ({ message }: WorkerFailed) => message && this.#options.log.error({ worker: place }, message),
    );
  }

  #hear(member: Member, report: Report): void {
    switch (report.kind) {
      case 'here':
        // It may have a password to hash before it serves.
        this.#work.add(member);
        return member.tell(this.#isStopping ? { kind: 'stop' } : { kind: 'begin', orders: member.orders });
      case 'administrator':
        return this.#options.onNewAdministrator(report.created);
      case 'ready':
        this.#failures = 0;
        member.serve();
        return this.#port.add(member);
      case 'samples':
        return this.#metrics?.take(report.ticket, report.samples);
      case 'gone':
        return this.#port.release(member, report.connections);
      case 'closing':
        return void this.#port.close().then(() => member.tell({ kind: 'closed' }));
      case 'failed':
        return member.fail(new WorkerFailed(report.exitCode, report.message));
    }
  }
}

interface End {
  readonly code: number;
  readonly signal: string;
}

/** One worker, from its start to its end. */
class Member {
  readonly orders: Orders;
  /** Still part of the start of all: if it ends, it is not replaced. */
  isNew = true;
  /** Rejects with a `WorkerFailed` if it ends before. */
  readonly ready: Promise<void>;
  readonly gone: Promise<End>;
  readonly #worker = cluster.fork();
  /** Handed out, and not sent yet: Node sends one when the one before has come. */
  readonly #onTheWay = new Set<Socket>();
  readonly #ready = Promise.withResolvers<void>();
  #servesSince: number | undefined;

  constructor(orders: Orders, onMessage: (message: ToPrimary) => void) {
    this.orders = orders;
    this.ready = this.#ready.promise;
    this.ready.catch(() => undefined);
    this.#worker.on('message', onMessage);
    // What could not be sent: its end tells the rest.
    this.#worker.on('error', () => undefined);
    this.gone = new Promise((leave) => {
      this.#worker.on('exit', (code, signal) => {
        this.fail(new WorkerFailed(code || 1));
        leave({ code, signal });
      });
    });
  }

  get hasServed(): boolean {
    return this.#servesSince !== undefined;
  }

  get servedMs(): number {
    return this.#servesSince === undefined ? 0 : performance.now() - this.#servesSince;
  }

  serve(): void {
    this.#servesSince = performance.now();
    this.#ready.resolve();
  }

  fail(why: WorkerFailed): void {
    this.#ready.reject(why);
  }

  askForSamples(ticket: number): void {
    this.tell({ kind: 'tell samples', ticket });
  }

  tell(message: ToWorker): void {
    if (this.#worker.isConnected()) this.#worker.send(message, undefined, () => undefined);
  }

  get isReachable(): boolean {
    return this.#worker.isConnected();
  }

  hand(socket: Socket): boolean {
    if (!this.isReachable || this.#onTheWay.size >= mostOnTheWay) return false;
    const message: ToWorker = { kind: 'connection' };
    this.#onTheWay.add(socket);
    this.#worker.send(message, socket, () => void this.#onTheWay.delete(socket));
    return true;
  }

  /** Connections that never came to it, when it is gone. */
  takeBack(): readonly Socket[] {
    const left = [...this.#onTheWay].filter(({ destroyed }) => !destroyed);
    this.#onTheWay.clear();
    return left;
  }

  kill(): void {
    this.#worker.process.kill('SIGKILL');
  }
}
