/** Random changes and watchers, until a mirror differs from a fresh read: `npm run lab -- fuzz live`. */

import { createSubject } from '../../fuzz/subject.ts';
import { describeFailure, generateOperations, runOperations, shrink } from './mirror-run.ts';

export const mirrorSubject = createSubject({
  name: 'live',
  failureTitle: 'A mirror differs',
  steps: 1_000,
  run: async (kind, seed, { steps, isOver }) => {
    const result = await runOperations(kind, generateOperations(seed, steps), { isOver });
    return { ...result, summary: `${result.changes} changes sent, ${result.resyncs} resyncs` };
  },
  shrink,
  describe: describeFailure,
});
