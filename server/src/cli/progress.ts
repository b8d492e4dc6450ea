/** A progress bar on standard error, for whoever looks at a terminal; elsewhere nothing. */

import type { Clock } from '../clock.ts';

export interface Progress {
  /** Without numbers, for what does not tell how far it is, the seconds are shown. */
  readonly show: (step: string, done?: number, total?: number) => void;
  /** Takes the bar away. */
  readonly end: () => void;
}

interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const drawEveryMs = 100;
const widestBar = 40;
/** Of a terminal that does not know its own width. */
const usualColumns = 80;
const toLineStart = '\r\x1b[K';

export function createProgress(clock: Clock, terminal: Terminal = process.stderr): Progress {
  let step: string | undefined;
  let begunAt = 0;
  let drawnAt = -Infinity;
  if (!terminal.isTTY) return { show: () => undefined, end: () => undefined };

  return {
    show(current, done = 0, total = -1) {
      const now = clock.now();
      if (current !== step) {
        step = current;
        begunAt = now;
        drawnAt = -Infinity;
      }
      if (now - drawnAt < drawEveryMs && (done < total || total < 0)) return;
      drawnAt = now;
      const columns = terminal.columns || usualColumns;
      const text =
        total < 0
          ? `${current} ${Math.floor((now - begunAt) / 1000)} s`
          : line(current, done, total, now - begunAt, columns);
      terminal.write(toLineStart + text.slice(0, columns - 1));
    },
    end() {
      if (step !== undefined) terminal.write(toLineStart);
      step = undefined;
    },
  };
}

function line(step: string, done: number, total: number, elapsedMs: number, columns: number): string {
  const share = total > 0 ? Math.min(1, done / total) : 1;
  const numbers = `${Math.floor(share * 100)} %  ${count(done)} of ${count(total)}${timeLeft(share, elapsedMs)}`;
  // As wide at the end as at the beginning.
  const longest = `100 %  ${count(total)} of ${count(total)}, 99 min left`;
  const width = Math.min(widestBar, columns - step.length - longest.length - 5);
  if (width < 5) return `${step} ${numbers}`;
  const filled = Math.round(share * width);
  return `${step} [${'#'.repeat(filled)}${'.'.repeat(width - filled)}] ${numbers}`;
}

function timeLeft(share: number, elapsedMs: number): string {
  const secondsLeft = Math.ceil(((elapsedMs / share) * (1 - share)) / 1000);
  if (elapsedMs < 2_000 || share === 0 || secondsLeft === 0) return '';
  return secondsLeft < 100 ? `, ${secondsLeft} s left` : `, ${Math.ceil(secondsLeft / 60)} min left`;
}

function count(number: number): string {
  return number.toLocaleString('en');
}
