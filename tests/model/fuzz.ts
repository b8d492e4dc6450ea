/** Random runs against the model until server and model disagree: `npm run fuzz -- --seed N --steps N --minutes M`. */

import { fuzz } from '../fuzz.ts';
import { describeFailure, operationsOf, runOperations, shrink } from './random-run.ts';

await fuzz({
  command: 'fuzz',
  failing: 'Server and model disagree',
  run: async (kind, seed, { steps, isOver }) => {
    const result = await runOperations(kind, operationsOf(seed, steps), { isOver });
    return { ...result, summary: `${result.requests} requests, ${result.folders} folders` };
  },
  shrink,
  describe: describeFailure,
});
