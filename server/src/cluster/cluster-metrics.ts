/** Merges the metrics of all workers into one text. The primary has the metrics port and requests samples from each worker. */

import { openMetricsPort, type MetricsPort, type MetricsPortOptions } from '../observability/metrics-port.ts';
import { mergeCounters, formatMerged, type Samples } from '../observability/metrics.ts';

interface SampledWorker {
  /** The samples arrive by `take` with the same ticket, unless the worker ends. */
  readonly requestSamples: (ticket: number) => void;
}

/** After this time, the last samples of the worker are used. */
const sampleTimeoutMs = 2_000;

export class ClusterMetrics {
  readonly #workers: () => Iterable<SampledWorker>;
  readonly #waiting = new Map<number, (samples: Samples | undefined) => void>();
  readonly #latest = new Map<SampledWorker, Samples>();
  /** The counters of workers that have ended, because a counter must never decrease. */
  #ended: readonly Samples[] = [];
  #lastTicket = 0;

  constructor(workers: () => Iterable<SampledWorker>) {
    this.#workers = workers;
  }

  open(options: Omit<MetricsPortOptions, 'text'>): Promise<MetricsPort> {
    return openMetricsPort({ ...options, text: () => this.text() });
  }

  async text(): Promise<string> {
    const samplesOfEach = await Promise.all([...this.#workers()].map((worker) => this.#request(worker)));
    if (samplesOfEach.every((samples) => samples === undefined))
      throw new Error('No worker sends its metrics.');
    if (this.#ended.length > 1) this.#ended = [await mergeCounters(this.#ended)];
    return formatMerged([...this.#latest.values(), ...this.#ended]);
  }

  /** Call this when the worker has ended. */
  async remove(worker: SampledWorker): Promise<void> {
    const last = this.#latest.get(worker);
    this.#latest.delete(worker);
    if (last) this.#ended = [...this.#ended, await mergeCounters([last])];
  }

  take(ticket: number, samples: Samples): void {
    this.#waiting.get(ticket)?.(samples);
  }

  #request(worker: SampledWorker): Promise<Samples | undefined> {
    const ticket = ++this.#lastTicket;
    return new Promise<Samples | undefined>((resolve) => {
      const late = setTimeout(resolve, sampleTimeoutMs, undefined);
      this.#waiting.set(ticket, (samples) => {
        clearTimeout(late);
        resolve(samples);
      });
      worker.requestSamples(ticket);
    }).then((samples) => {
      this.#waiting.delete(ticket);
      if (samples) this.#latest.set(worker, samples);
      return samples;
    });
  }
}
