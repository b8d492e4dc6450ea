/** Runs concurrent actors until the server and the model disagree about rights: `npm run lab -- fuzz rights`. */

import type { DatabaseKind } from '../support/databases.ts';
import type { Subject } from '../fuzz/subject.ts';
import { runRights, type Topology } from './rights-run.ts';

/** SQLite with one and with two workers; PostgreSQL with two nodes. */
export function listTopologies({ name }: DatabaseKind): readonly (readonly [string, Topology])[] {
  if (name !== 'SQLite') return [['two nodes', { nodes: 2, workers: 1 }]];
  return [
    ['one worker', { nodes: 1, workers: 1 }],
    ['two workers', { nodes: 1, workers: 2 }],
  ];
}

/** A concurrent run cannot be repeated, so a failure is reported without shrinking. */
export const rightsSubject: Subject = {
  name: 'rights',
  steps: 10_000,
  async runOne(kind, seed, { steps, isOver }) {
    let totalSteps = 0;
    for (const [title, topology] of listTopologies(kind)) {
      const startedAt = performance.now();
      const result = await runRights({ kind, ...topology, seed, steps, isOver });
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      const { changes, observations, events, difference } = result;
      totalSteps += result.steps;
      console.log(
        `rights, seed ${seed} on ${kind.name} with ${title}: ${result.steps} steps, ${changes} changes, ${observations} observations, ${events} events, ${seconds} s`,
      );
      if (difference === undefined) continue;
      console.log(difference);
      return { steps: totalSteps, isGood: false };
    }
    return { steps: totalSteps, isGood: true };
  },
};
