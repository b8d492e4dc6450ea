/** Merges the metrics of all workers into one text. The primary has the metrics port and requests samples from each worker. */

import { AggregatorRegistry, type Registry } from 'prom-client';
import { withTimeout } from '../concurrency/timeout.ts';
import type { Samples } from '../observability/metrics.ts';
import type { WorkerChannel } from './shared-state.ts';

/** After this time, the last samples of the worker are used. */
const sampleTimeoutMs = 2_000;

export class ClusterMetrics {
  readonly #workers: () => Iterable<WorkerChannel>;
  readonly #pendingRequests = new Map<number, (samples: Samples | undefined) => void>();
  readonly #latestSamples = new Map<WorkerChannel, Samples>();
  /** The counters of workers that have ended. They stay in the sums, because a counter must never decrease. */
  #endedCounters: readonly Samples[] = [];
  #lastTicket = 0;

  constructor(workers: () => Iterable<WorkerChannel>) {
    this.#workers = workers;
  }

  async text(): Promise<string> {
    const samplesOfEach = await Promise.all([...this.#workers()].map((worker) => this.#request(worker)));
    if (samplesOfEach.every((samples) => samples === undefined))
      throw new Error('No worker responds with its metrics.');
    if (this.#endedCounters.length > 1) this.#endedCounters = [await mergeCounters(this.#endedCounters)];
    return merge([...this.#latestSamples.values(), ...this.#endedCounters]).metrics();
  }

  /** Call it when the worker has ended. */
  async remove(worker: WorkerChannel): Promise<void> {
    const last = this.#latestSamples.get(worker);
    this.#latestSamples.delete(worker);
    if (last) this.#endedCounters = [...this.#endedCounters, await mergeCounters([last])];
  }

  take(ticket: number, samples: Samples): void {
    this.#pendingRequests.get(ticket)?.(samples);
  }

  async #request(worker: WorkerChannel): Promise<Samples | undefined> {
    const ticket = ++this.#lastTicket;
    const { promise, resolve } = Promise.withResolvers<Samples | undefined>();
    this.#pendingRequests.set(ticket, resolve);
    // The samples arrive through `take()` with the same ticket, unless the worker ends.
    worker.send({ kind: 'read samples', ticket });
    const samples = await withTimeout(sampleTimeoutMs, promise, undefined);
    this.#pendingRequests.delete(ticket);
    if (samples) this.#latestSamples.set(worker, samples);
    return samples;
  }
}

/** The counters and histograms of all workers together, without gauges. */
async function mergeCounters(samples: readonly Samples[]): Promise<Samples> {
  const all = await merge(samples).getMetricsAsJSON();
  return all.filter(({ type }) => ['counter', 'histogram'].includes(String(type)));
}

function merge(samples: readonly Samples[]): Registry {
  return AggregatorRegistry.aggregate(samples as unknown as object[]);
}
