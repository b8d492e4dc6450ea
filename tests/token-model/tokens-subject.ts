/** Random uses of tokens, until server and model disagree: `npm run fuzz -- tokens`. */

import { subjectOf } from '../fuzz/subject.ts';
import { describeFailure, operationsOf, runOperations, shrink } from './token-run.ts';

export const tokensSubject = subjectOf({
  name: 'tokens',
  failing: 'Server and model disagree',
  steps: 500,
  run: async (kind, seed, { steps, isOver }) => {
    const result = await runOperations(kind, operationsOf(seed, steps), isOver);
    return { ...result, summary: `${result.requests} requests, ${result.sessions} sessions` };
  },
  shrink,
  describe: describeFailure,
});
