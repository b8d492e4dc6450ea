/** Random changes and reads of the tree, until server and model disagree: `npm run lab -- fuzz tree`. */

import { createSubject } from '../fuzz/subject.ts';
import { describeFailure, generateOperations, runOperations, shrink } from './random-run.ts';

export const treeSubject = createSubject({
  name: 'tree',
  failureTitle: 'Server and model disagree',
  steps: 1_000,
  run: async (kind, seed, { steps, isOver }) => {
    const result = await runOperations(kind, generateOperations(seed, steps), { isOver });
    return { ...result, summary: `${result.requests} requests, ${result.folders} folders` };
  },
  shrink,
  describe: describeFailure,
});
