/** Progress of what is done with a whole file: copied, which tells how far it is, and then checked, which does not. */

import { systemClock } from '../clock.ts';
import { createProgress } from './progress.ts';

const tickMs = 200;

export interface FileProgress {
  readonly copied: (done: number, total: number) => void;
  /** From now on. */
  readonly checking: () => void;
  readonly end: () => void;
}

export function createFileProgress(): FileProgress {
  const progress = createProgress(systemClock);
  let ticking: NodeJS.Timeout | undefined;
  return {
    copied: (done, total) => progress.show('Copying', done, total),
    checking: () => {
      ticking ??= setInterval(() => progress.show('Checking'), tickMs);
    },
    end: () => {
      clearInterval(ticking);
      progress.end();
    },
  };
}
