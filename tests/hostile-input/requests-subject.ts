/** Mutated HTTP, JSON, GraphQL and WebSocket input, until an answer is one that must not be: `npm run fuzz -- requests`. */

import { createSubject } from '../fuzz/subject.ts';
import { describeFailure, requestsOf, runRequests, shrink } from './requests-run.ts';

export const requestsSubject = createSubject({
  name: 'requests',
  failing: 'Something happened that must not',
  steps: 5_000,
  run: async (kind, seed, { steps, isOver }) => {
    const result = await runRequests(kind, requestsOf(seed, steps), isOver);
    return { ...result, summary: `${result.answers} answers` };
  },
  shrink,
  describe: describeFailure,
});
