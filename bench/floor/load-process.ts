/** Whoever asks, in a process of its own; and a side of a race that is asked by it. */

import { Child } from '../child.ts';
import { treeCpuMicroseconds } from '../sizing-processes.ts';
import type { Volley, VolleyResult } from './volley.ts';
import type { Contestant } from './contestant.ts';

export class LoadProcess {
  readonly #child: Child;

  constructor(signal: AbortSignal) {
    this.#child = new Child({ file: 'floor/load.ts', signal });
  }

  get pid(): number {
    return this.#child.pid;
  }

  fire(volley: Volley): Promise<VolleyResult> {
    return this.#child.ask('fire', volley);
  }

  stop(): Promise<void> {
    return this.#child.stop();
  }
}

export interface Target {
  readonly url: string;
  readonly pid: number;
}

/** Its CPU is that of its process with all it has started. */
export function askedBy(
  load: LoadProcess,
  { url, pid }: Target,
  volley: Omit<Volley, 'url' | 'requests'>,
): Contestant {
  return {
    async fire(requests) {
      const before = treeCpuMicroseconds(pid);
      const result = await load.fire({ ...volley, url, requests });
      return { requests, cpuMicroseconds: treeCpuMicroseconds(pid) - before, ...result };
    },
  };
}
