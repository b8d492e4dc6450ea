/** A progress bar on standard error, only on a terminal. */

import type { Clock } from '../../clock.ts';

export interface Progress {
  /** Shows a bar, or without a total only the count. */
  readonly show: (step: string, done: number, total?: number) => void;
  /** Shows the elapsed time of a step without a count, until the next step or the end. */
  readonly wait: (step: string) => void;
  /** Removes the bar. */
  readonly end: () => void;
}

interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const drawEveryMs = 100;
const tickEveryMs = 1_000;
const widestBar = 40;
const toLineStart = '\r\x1b[K';

export function createProgress(clock: Clock, terminal: Terminal = process.stderr): Progress {
  let step: string | undefined;
  let begunAt = 0;
  let drawnAt = -Infinity;
  let ticking: NodeJS.Timeout | undefined;
  const ignore = () => undefined;
  if (!terminal.isTTY) return { show: ignore, wait: ignore, end: ignore };
  // A terminal of unknown size reports 0.
  const columns = () => terminal.columns || 80;

  const begin = (current: string, now: number) => {
    clearInterval(ticking);
    step = current;
    begunAt = now;
    drawnAt = -Infinity;
  };
  return {
    show(current, done, total) {
      const now = clock.now();
      if (current !== step) begin(current, now);
      if (now - drawnAt < drawEveryMs && done !== total) return;
      drawnAt = now;
      const text =
        total === undefined
          ? `${current} ${count(done)}`.slice(0, columns() - 1)
          : line(current, done, total, now - begunAt, columns());
      terminal.write(toLineStart + text);
    },
    wait(current) {
      if (current === step) return;
      begin(current, clock.now());
      const tick = () => {
        const seconds = Math.floor((clock.now() - begunAt) / 1000);
        terminal.write(
          toLineStart + `${current} … ${seconds > 0 ? `${seconds} s` : ''}`.slice(0, columns() - 1),
        );
      };
      tick();
      ticking = setInterval(tick, tickEveryMs).unref();
    },
    end() {
      clearInterval(ticking);
      if (step !== undefined) terminal.write(toLineStart);
      step = undefined;
    },
  };
}

function line(step: string, done: number, total: number, elapsedMs: number, columns: number): string {
  const share = total > 0 ? Math.min(1, done / total) : 1;
  const numbers = `${Math.floor(share * 100)} %  ${count(done)} of ${count(total)}${timeLeft(share, elapsedMs)}`;
  // The width must not change while the numbers grow.
  const longestNumbers = `100 %  ${count(total)} of ${count(total)}, 99 min left`;
  const width = Math.min(widestBar, columns - step.length - longestNumbers.length - 5);
  if (width < 5) return `${step} ${numbers}`.slice(0, columns - 1);
  const filled = Math.round(share * width);
  return `${step} [${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${numbers}`;
}

function timeLeft(share: number, elapsedMs: number): string {
  const secondsLeft = Math.ceil(((elapsedMs / share) * (1 - share)) / 1000);
  if (elapsedMs < 2_000 || share === 0 || secondsLeft === 0) return '';
  return secondsLeft < 100 ? `, ${secondsLeft} s left` : `, ${Math.ceil(secondsLeft / 60)} min left`;
}

export function count(number: number): string {
  return number.toLocaleString('en');
}

/** `1 folder`, `1,200 folders` */
export function countFolders(number: number): string {
  return `${count(number)} ${number === 1 ? 'folder' : 'folders'}`;
}
