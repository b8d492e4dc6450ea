/** A floor in a process of its own. */

import { Child } from '../child.ts';
import type { BareInput } from './bare.ts';
import type { Target } from './load-process.ts';
import type { Course } from './race.ts';

export class BareProcess implements Target {
  readonly #child: Child;
  #url = '';

  /** Without a URL: it works when it is asked to. */
  static launch({ signal, pin }: Pick<Course, 'signal' | 'pin'>): BareProcess {
    const bare = new BareProcess(signal);
    pin(bare.pid);
    return bare;
  }

  static async start(
    input: BareInput,
    { signal, pin }: Pick<Course, 'signal' | 'pin'>,
  ): Promise<BareProcess> {
    const bare = new BareProcess(signal);
    try {
      bare.#url = await bare.#child.ask<string>('start', input);
      pin(bare.pid);
      return bare;
    } catch (error) {
      await bare.stop();
      throw error;
    }
  }

  private constructor(signal: AbortSignal) {
    this.#child = new Child({ file: 'floor/bare.ts', signal });
  }

  get url(): string {
    return this.#url;
  }

  get pid(): number {
    return this.#child.pid;
  }

  ask<Answer = void>(name: string, input?: unknown): Promise<Answer> {
    return this.#child.ask<Answer>(name, input);
  }

  stop(): Promise<void> {
    return this.#child.stop();
  }
}
