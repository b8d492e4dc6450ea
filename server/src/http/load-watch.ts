/**
 * Whether this process has more to do than it can. It looks at its own work alone, so that a machine that is busy with
 * something else never looks like an attack: CPU time of this thread, and memory that is left when garbage is gone.
 */

import { constants, PerformanceObserver, type PerformanceEntry } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import type { Load } from './pressure.ts';

type GcEntry = PerformanceEntry & { readonly detail: { readonly kind: number } };

const lookEveryMs = 1_000;
/** Between two looks; with less to do there would be about a second of it, or nothing. */
const busyMs = 3_000;
const calmMs = 1_500;
/** One round may be long: five hundred requests that come at the same instant are no trouble. */
const mostBusyLooks = 3;
const mostHeap = 0.85;
/** Then some requests are let in again, and show whether it has become better. */
const shortMemoryLooks = 5;

export class LoadWatch implements Load {
  #busyLooks = 0;
  #looksUntilEased = 0;
  readonly #onChange: (load: Load) => void;
  #told: Load = { isMemoryShort: false, isBehind: false };

  constructor(onChange: (load: Load) => void = () => undefined) {
    this.#onChange = onChange;
  }

  get isBehind(): boolean {
    return this.#busyLooks >= mostBusyLooks;
  }

  get isMemoryShort(): boolean {
    return this.#looksUntilEased > 0;
  }

  /** Every second or, if the process is behind, when it comes to it. */
  look(cpuMs: number): void {
    if (cpuMs >= busyMs) this.#busyLooks++;
    else if (!this.isBehind || cpuMs < calmMs) this.#busyLooks = 0;
    if (this.#looksUntilEased > 0) this.#looksUntilEased--;
    this.#tell();
  }

  /** After all garbage was collected: the share of the heap that is still in use. */
  lookAtHeap(share: number): void {
    this.#looksUntilEased = share > mostHeap ? shortMemoryLooks : 0;
    this.#tell();
  }

  /** Answers with what ends it. */
  start(): () => void {
    const { threadCpuUsage } = process as { threadCpuUsage?: typeof process.threadCpuUsage };
    let last = threadCpuUsage?.();
    const timer = setInterval(() => {
      // Node before 22.15 does not tell what one thread has used, and other threads hash passwords.
      const used = last && threadCpuUsage!(last);
      last = threadCpuUsage?.();
      this.look(used ? (used.user + used.system) / 1000 : 0);
    }, lookEveryMs);
    timer.unref();
    const observer = new PerformanceObserver((list) => {
      const isMajor = list
        .getEntries()
        .some((entry) => (entry as GcEntry).detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR);
      if (!isMajor) return;
      const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
      this.lookAtHeap(used / limit);
    });
    observer.observe({ entryTypes: ['gc'] });
    return () => {
      clearInterval(timer);
      observer.disconnect();
    };
  }

  #tell(): void {
    const { isBehind, isMemoryShort } = this;
    if (isBehind === this.#told.isBehind && isMemoryShort === this.#told.isMemoryShort) return;
    this.#told = { isBehind, isMemoryShort };
    this.#onChange(this.#told);
  }
}
