/** Displays the progress of copying a file, and then the duration of its check. */

import { systemClock } from '../../clock.ts';
import { createProgress } from './progress.ts';

export interface FileProgress {
  readonly copied: (done: number, total: number) => void;
  /** Displays the duration of the check from now on. */
  readonly checking: () => void;
  readonly end: () => void;
}

export function createFileProgress(): FileProgress {
  const progress = createProgress(systemClock);
  return {
    copied: (done, total) => progress.show('Copying', done, total),
    checking: () => progress.wait('Checking'),
    end: progress.end,
  };
}
