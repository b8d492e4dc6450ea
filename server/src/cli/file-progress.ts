/** Progress of what is done with a whole file: copied, which tells how far it is, and then checked, which does not. */

import { systemClock } from '../clock.ts';
import { createProgress } from './progress.ts';

export interface FileProgress {
  readonly copied: (done: number, total: number) => void;
  /** From now on. */
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
