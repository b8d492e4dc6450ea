/**
 * Sends mutated HTTP, JSON, GraphQL and WebSocket input until a check of the server fails: `npm run lab -- fuzz
 * requests`.
 */

import { createSubject } from '../fuzz/subject.ts';
import { describeFailure, generateRequests, runRequests, shrink } from './requests-run.ts';

export const requestsSubject = createSubject({
  name: 'requests',
  failureTitle: 'A check of the server failed',
  steps: 5_000,
  run: async (kind, seed, { steps, isOver }) => {
    const result = await runRequests(kind, generateRequests(seed, steps), isOver);
    return { ...result, summary: `${result.responses} responses` };
  },
  shrink,
  describe: describeFailure,
});
