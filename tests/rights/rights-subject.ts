/** Concurrent actors and their rights, until server and model disagree: `npm run fuzz -- rights`. */

import type { DatabaseKind } from '../support/databases.ts';
import type { Subject } from '../fuzz/subject.ts';
import { runRights, type Topology } from './rights-run.ts';

/** SQLite with one and with two workers; PostgreSQL with two nodes. */
export function topologiesOf({ name }: DatabaseKind): readonly (readonly [string, Topology])[] {
  if (name !== 'SQLite') return [['two nodes', { nodes: 2, workers: 1 }]];
  return [
    ['one worker', { nodes: 1, workers: 1 }],
    ['two workers', { nodes: 1, workers: 2 }],
  ];
}

/** Concurrent runs cannot be repeated: a failure is reported as it was found, and not shrunk. */
export const rightsSubject: Subject = {
  name: 'rights',
  steps: 10_000,
  async runOne(kind, seed, { steps, isOver }) {
    let taken = 0;
    for (const [title, topology] of topologiesOf(kind)) {
      const startedAt = performance.now();
      const result = await runRights({ kind, ...topology, seed, steps, isOver });
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      const { changes, observations, events, difference } = result;
      taken += result.steps;
      console.log(
        `rights, seed ${seed} on ${kind.name} with ${title}: ${result.steps} steps, ${changes} changes, ${observations} observations, ${events} events, ${seconds} s`,
      );
      if (difference === undefined) continue;
      console.log(difference);
      return { steps: taken, isGood: false };
    }
    return { steps: taken, isGood: true };
  },
};
