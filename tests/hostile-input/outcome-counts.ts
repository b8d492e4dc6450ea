/** Counts the outcomes of requests by kind. */

import type { HttpResponse } from './http-responses.ts';
import type { HostileRequest } from './hostile-request.ts';

const maxLength = 3_000;

export class OutcomeCounts {
  readonly faults: string[] = [];
  serverErrors = 0;
  readonly #total: number;
  readonly #start = performance.now();
  readonly #counts = new Map<string, Map<string, number>>();
  #requests = 0;

  constructor(total: number) {
    this.#total = total;
  }

  count({ kind }: HostileRequest, responses: readonly HttpResponse[]): void {
    this.#requests++;
    // Includes the response to `lastRequest` on a connection, which causes most 200s of `http`.
    for (const response of responses) this.#add(kind, describeOutcome(response));
    if (responses.length === 0) this.#add(kind, 'no response');
    this.serverErrors += responses.filter(({ status }) => status >= 500).length;
  }

  countFault(request: HostileRequest, error: Error): void {
    this.faults.push(`${error.message}\n${JSON.stringify(request).slice(0, maxLength)}`);
  }

  progress(): void {
    const minutes = (performance.now() - this.#start) / 60_000;
    const left = (minutes / this.#requests) * (this.#total - this.#requests);
    process.stderr.write(`${this.summary}, ${this.faults.length} faults, ${left.toFixed(1)} minutes to go\n`);
  }

  get summary(): string {
    const seconds = (performance.now() - this.#start) / 1000;
    const rate = Math.round(this.#requests / seconds);
    return `${this.#requests} requests, ${(seconds / 60).toFixed(1)} minutes, ${rate} per second`;
  }

  get table(): string {
    return [...this.#counts]
      .map(([kind, outcomes]) => {
        const sorted = [...outcomes].sort(([one], [other]) => one.localeCompare(other));
        return `${kind.padEnd(7)}${sorted.map(([outcome, count]) => `${outcome}: ${count}`).join('  ')}`;
      })
      .join('\n');
  }

  #add(kind: string, outcome: string): void {
    const outcomes = this.#counts.get(kind) ?? new Map<string, number>();
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    this.#counts.set(kind, outcomes);
  }
}

/** Returns the status, with the close code of a socket or whether a query had errors. */
function describeOutcome({ status, body, closeCode }: HttpResponse): string {
  if (status === 101) return `101 ${closeCode ?? ''}`.trim();
  if (status === 200 && body.startsWith('{"errors"')) return '200 with errors only';
  if (status === 200 && body.includes('"errors":[')) return '200 with errors';
  return String(status);
}
