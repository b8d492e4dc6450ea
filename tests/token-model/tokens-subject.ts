/** Uses tokens at random until the server and the model disagree: `npm run lab -- fuzz tokens`. */

import { createSubject } from '../fuzz/subject.ts';
import { describeFailure, generateOperations, runOperations, shrink } from './token-run.ts';

export const tokensSubject = createSubject({
  name: 'tokens',
  failureTitle: 'Server and model disagree',
  steps: 500,
  run: async (kind, seed, { steps, isOver }) => {
    const result = await runOperations(kind, generateOperations(seed, steps), isOver);
    return { ...result, summary: `${result.requests} requests, ${result.sessions} sessions` };
  },
  shrink,
  describe: describeFailure,
});
