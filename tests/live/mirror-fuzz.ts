/** Random runs with mirrors until one differs from a fresh read: `npm run fuzz:live -- --seed N --steps N --minutes M`. */

import { fuzz } from '../fuzz.ts';
import { describeFailure, operationsOf, runOperations, shrink } from './mirror-run.ts';

await fuzz({
  command: 'fuzz:live',
  failing: 'A mirror differs',
  run: async (kind, seed, { steps, isOver }) => {
    const result = await runOperations(kind, operationsOf(seed, steps), { isOver });
    return { ...result, summary: `${result.changes} changes told, ${result.resyncs} resyncs` };
  },
  shrink,
  describe: describeFailure,
});
