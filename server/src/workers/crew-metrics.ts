/** The metrics of all workers as one text: the primary, which has the port, asks each of them. */

import { openMetricsPort, type MetricsPort, type MetricsPortOptions } from '../metrics/metrics-port.ts';
import { textOfAll, type Samples } from '../metrics/metrics.ts';

interface Asked {
  /** It will call `take` with the same ticket, unless it is gone. */
  readonly askForSamples: (ticket: number) => void;
}

/** A worker that is busy for longer is left out: better than no metrics at all. */
const answerWithinMs = 2_000;

export class CrewMetrics {
  readonly #workers: () => Iterable<Asked>;
  readonly #waiting = new Map<number, (samples: Samples | undefined) => void>();
  #lastTicket = 0;

  constructor(workers: () => Iterable<Asked>) {
    this.#workers = workers;
  }

  open(options: Omit<MetricsPortOptions, 'text'>): Promise<MetricsPort> {
    return openMetricsPort({ ...options, text: () => this.text() });
  }

  async text(): Promise<string> {
    const all = await Promise.all([...this.#workers()].map((worker) => this.#ask(worker)));
    return textOfAll(all.filter((samples) => samples !== undefined));
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
    }).finally(() => this.#waiting.delete(ticket));
  }
}
