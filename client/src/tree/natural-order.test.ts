import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { sortKey } from '../../../server/src/folders/folder-texts.ts';
import { compareSiblings, inNaturalOrder } from './natural-order.ts';

interface Sortable {
  readonly id: string;
  readonly name: string;
}

function sortLikeServer(folders: readonly Sortable[]): readonly Sortable[] {
  return folders.toSorted(
    (a, b) => Buffer.compare(sortKey(a.name), sortKey(b.name)) || (a.id < b.id ? -1 : 1),
  );
}

const name = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 255 }),
  fc.string({ unit: fc.constantFrom(...'aAäÄå0019.- ßﬁİ😀\uffee'), minLength: 1, maxLength: 12 }),
  // Longer than a key and equal up to its maximum length.
  fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 2 }).map((end) => `${'😀'.repeat(254)}${end}`),
);

describe('natural order', () => {
  test('puts Floor 2 before Floor 10, and ignores case, accents and leading zeros', () => {
    const names = ['Floor 10', 'floor 2', 'Flöor 1', 'Floor 002', 'a', 'Ä', 'b', 'Z'];
    const folders = names.map((each, index) => ({ id: String(index), name: each }));
    assert.deepEqual(
      inNaturalOrder(folders).map((folder) => folder.name),
      ['a', 'Ä', 'b', 'Flöor 1', 'Floor 002', 'floor 2', 'Floor 10', 'Z'],
    );
  });

  test('equals the order of the server for random names', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ id: fc.uuid(), name }), { maxLength: 20 }), (folders) => {
        assert.deepEqual(inNaturalOrder(folders), sortLikeServer(folders));
        assert.deepEqual(folders.toSorted(compareSiblings), sortLikeServer(folders));
      }),
      { numRuns: 1_000 },
    );
  });
});
