/**
 * If a query fails while other fields are pending, these must not cause an unhandled rejection, which would end the
 * process. The test runner fails the run in that case.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setImmediate as nextRound } from 'node:timers/promises';
import { databaseKinds } from '../support/databases.ts';
import { MirrorTestbed } from '../live/mirror/mirror-testbed.ts';

/** In each query, an element fails immediately while fields of earlier elements are still being read. */
const selections = [
  'name a:name b:name path',
  'name a:name b:name access{items{level}}',
  'name a:name parent{name}',
];

for (const kind of databaseKinds) {
  describe(`a query that fails in the middle of a list on ${kind.name}`, () => {
    for (const selection of selections) {
      test(`causes no unhandled rejection: ${selection}`, async () => {
        const testbed = await MirrorTestbed.start(kind, { maxTextBytes: 300 });
        try {
          const administrator = await testbed.administratorId();
          const tree = Array.from({ length: 20 }, (_, index) => ({ name: `Town number ${index}` }));
          const importTree =
            'mutation($tree:[ImportedFolder!]){importFolders(input:{tree:$tree}){folderCount}}';
          await testbed.run(administrator, importTree, { tree });
          // The first run uses graphql-js, the later ones a query plan that is abandoned.
          for (let time = 0; time < 3; time++) {
            const { errors } = await testbed.run(administrator, `{folder{folders{items{${selection}}}}}`);
            assert.equal(errors?.[0]?.extensions?.code, 'TOO_EXPENSIVE');
          }
          for (let round = 0; round < 20; round++) await nextRound();
        } finally {
          await testbed.stop();
        }
      });
    }
  });
}
