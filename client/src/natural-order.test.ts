import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { sortKey } from '../../server/src/folders/sort-key.ts';
import { compareSiblings, inNaturalOrder } from './natural-order.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

function asTheServer(folders: readonly Named[]): readonly Named[] {
  return folders.toSorted(
    (one, other) => Buffer.compare(sortKey(one.name), sortKey(other.name)) || (one.id < other.id ? -1 : 1),
  );
}

const name = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 255 }),
  fc.string({ unit: fc.constantFrom(...'aAäÄå0019.- ßﬁİ😀\uffee'), minLength: 1, maxLength: 12 }),
  // Longer than a key: equal up to where it is cut.
  fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 2 }).map((end) => `${'😀'.repeat(254)}${end}`),
);

describe('the natural order', () => {
  test('puts Floor 2 before Floor 10, and does not mind case, accents and leading zeros', () => {
    const names = ['Floor 10', 'floor 2', 'Flöor 1', 'Floor 002', 'a', 'Ä', 'b', 'Z'];
    const folders = names.map((each, place) => ({ id: String(place), name: each }));
    assert.deepEqual(
      inNaturalOrder(folders).map((folder) => folder.name),
      ['a', 'Ä', 'b', 'Flöor 1', 'Floor 002', 'floor 2', 'Floor 10', 'Z'],
    );
  });

  test('is that of the server, whatever the names are', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ id: fc.uuid(), name }), { maxLength: 20 }), (folders) => {
        assert.deepEqual(inNaturalOrder(folders), asTheServer(folders));
        assert.deepEqual(folders.toSorted(compareSiblings), asTheServer(folders));
      }),
      { numRuns: 1_000 },
    );
  });
});
