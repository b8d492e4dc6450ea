/** The metrics of all workers as one text: the primary, which has the port, asks each of them. */

import { openMetricsPort, type MetricsPort, type MetricsPortOptions } from '../metrics/metrics-port.ts';
import { countedByAll, textOfAll, type Samples } from '../metrics/metrics.ts';

interface Asked {
  /** It will call `take` with the same ticket, unless it is gone. */
  readonly askForSamples: (ticket: number) => void;
}

/** Of a worker that is busy for longer, what it said last is told. */
const answerWithinMs = 2_000;

export class CrewMetrics {
  readonly #workers: () => Iterable<Asked>;
  readonly #waiting = new Map<number, (samples: Samples | undefined) => void>();
  /** What each said last; of those that have ended, what they had counted: counters never go back. */
  readonly #latest = new Map<Asked, Samples>();
  #ended: readonly Samples[] = [];
  #lastTicket = 0;

  constructor(workers: () => Iterable<Asked>) {
    this.#workers = workers;
  }

  open(options: Omit<MetricsPortOptions, 'text'>): Promise<MetricsPort> {
    return openMetricsPort({ ...options, text: () => this.text() });
  }

  async text(): Promise<string> {
    const answers = await Promise.all([...this.#workers()].map((worker) => this.#ask(worker)));
    if (!answers.some((samples) => samples !== undefined)) throw new Error('No worker answers.');
    if (this.#ended.length > 1) this.#ended = [await countedByAll(this.#ended)];
    return textOfAll([...this.#latest.values(), ...this.#ended]);
  }

  /** It has ended. */
  async remove(worker: Asked): Promise<void> {
    const last = this.#latest.get(worker);
    this.#latest.delete(worker);
    if (last) this.#ended = [...this.#ended, await countedByAll([last])];
  }

  take(ticket: number, samples: Samples): void {
    this.#waiting.get(ticket)?.(samples);
  }

  #ask(worker: Asked): Promise<Samples | undefined> {
    const ticket = ++this.#lastTicket;
    return new Promise<Samples | undefined>((resolve) => {
      const late = setTimeout(resolve, answerWithinMs, undefined);
      this.#waiting.set(ticket, (samples) => {
        clearTimeout(late);
        resolve(samples);
      });
      worker.askForSamples(ticket);
    }).then((samples) => {
      this.#waiting.delete(ticket);
      if (samples) this.#latest.set(worker, samples);
      return samples;
    });
  }
}
