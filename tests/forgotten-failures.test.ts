/** What is left of a query that has been answered with an error must not end the process: the run fails if it does. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { databaseKinds } from './databases.ts';
import { MirrorBed } from './live/mirror-bed.ts';

/** An element that fails at once comes after others whose last field is still being read. */
const selections = [
  'name a:name b:name path',
  'name a:name b:name access{items{level}}',
  'name a:name parent{name}',
];

for (const kind of databaseKinds) {
  describe(`a query that fails in the middle of a list, on ${kind.name},`, () => {
    for (const selection of selections) {
      test(`leaves nothing behind: ${selection}`, async () => {
        const bed = await MirrorBed.start(kind, { maxTextBytes: 300 });
        try {
          const administrator = await bed.administratorId();
          const tree = Array.from({ length: 20 }, (_, place) => ({ name: `Town number ${place}` }));
          const plant = 'mutation($tree:[ImportedFolder!]){importFolders(input:{tree:$tree}){folderCount}}';
          await bed.run(administrator, plant, { tree });
          // The first time by graphql-js, then by a plan that comes to nothing.
          for (let time = 0; time < 3; time++) {
            const { errors } = await bed.run(administrator, `{folder{folders{items{${selection}}}}}`);
            assert.equal(errors?.[0]?.extensions?.code, 'TOO_EXPENSIVE');
          }
          for (let round = 0; round < 20; round++) await nextRound();
        } finally {
          await bed.stop();
        }
      });
    }
  });
}
