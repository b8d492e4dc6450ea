/** Shows the progress of a long step on standard error, only on a terminal. The library is loaded with the first step. */

import type { Ora } from 'ora';
import { systemClock, type Clock } from '../../clock.ts';
import { formatNumber } from './output.ts';

export interface Progress {
  /** Shows the share, or without a total only the count. */
  readonly show: (step: string, done: number, total?: number) => void;
  /** Shows the elapsed time of a step without a count, until the next step or the end. */
  readonly wait: (step: string) => void;
  /** Removes the progress. */
  readonly end: () => void;
}

const tickEveryMs = 1_000;

export function createProgress(
  stream: NodeJS.WriteStream = process.stderr,
  clock: Clock = systemClock,
): Progress {
  const ignore = () => undefined;
  return stream.isTTY ? new TerminalProgress(stream, clock) : { show: ignore, wait: ignore, end: ignore };
}

class TerminalProgress implements Progress {
  readonly #stream: NodeJS.WriteStream;
  readonly #clock: Clock;
  #step: string | undefined;
  #text = '';
  #begunAt = 0;
  #spinner: Ora | undefined;
  #isLoading = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(stream: NodeJS.WriteStream, clock: Clock) {
    this.#stream = stream;
    this.#clock = clock;
  }

  readonly show = (step: string, done: number, total?: number): void => {
    const isNew = this.#begin(step);
    const amount =
      total === undefined ? formatNumber(done) : formatShare(done, total, this.#clock.now() - this.#begunAt);
    this.#update(`${step} ${amount}`, isNew);
  };

  readonly wait = (step: string): void => {
    if (!this.#begin(step)) return;
    this.#update(`${step} …`, true);
    const tick = () =>
      this.#update(`${step} … ${Math.floor((this.#clock.now() - this.#begunAt) / 1000)} s`, false);
    this.#timer = setInterval(tick, tickEveryMs).unref();
  };

  readonly end = (): void => {
    clearInterval(this.#timer);
    this.#step = undefined;
    this.#spinner?.stop();
    this.#spinner = undefined;
  };

  /** Returns false if this step has begun already. */
  #begin(step: string): boolean {
    if (step === this.#step) return false;
    clearInterval(this.#timer);
    this.#step = step;
    this.#begunAt = this.#clock.now();
    return true;
  }

  #update(text: string, isNew: boolean): void {
    this.#text = text;
    if (!this.#spinner) {
      if (!this.#isLoading) void this.#load();
      return;
    }
    this.#spinner.text = text;
    // The spinner renders many times a second, but a short step could begin and end in between.
    if (isNew) this.#spinner.render();
  }

  async #load(): Promise<void> {
    this.#isLoading = true;
    const { default: ora } = await import('ora');
    this.#isLoading = false;
    if (this.#step === undefined) return;
    // Ctrl-C must reach the command, which may have to undo something. So neither the input nor the cursor is taken over.
    const options = { text: this.#text, stream: this.#stream, discardStdin: false, hideCursor: false };
    this.#spinner = ora(options).start();
  }
}

/** Displays the progress of copying a file, and then the duration of its check. */
export function createFileProgress() {
  const progress = createProgress();
  return {
    showCopying: (done: number, total: number) => progress.show('Copying', done, total),
    showChecking: () => progress.wait('Checking'),
    end: progress.end,
  };
}

export function formatShare(done: number, total: number, elapsedMs: number): string {
  const share = total > 0 ? Math.min(1, done / total) : 1;
  const count = `${Math.floor(share * 100)} %  ${formatNumber(done)} of ${formatNumber(total)}`;
  const secondsLeft = Math.ceil(((elapsedMs / share) * (1 - share)) / 1000);
  if (elapsedMs < 2_000 || share === 0 || secondsLeft === 0) return count;
  return `${count}, ${secondsLeft < 100 ? `${secondsLeft} s` : `${Math.ceil(secondsLeft / 60)} min`} left`;
}
