import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { accessLevels } from '../access/access.ts';
import { positionsOfKey, pathKey, type Descendant } from './descendants.ts';
import { sortKey } from './text-keys.ts';

const steps = fc.record({
  id: fc.uuid(),
  name: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 255 }),
});

/** The last of a way of folders, each inside the one before. */
function descendantAt(way: readonly { id: string; name: string }[]): Descendant {
  const last = way.at(-1)!;
  return {
    folder: {
      ...last,
      parentId: null,
      title: null,
      childCount: 0,
      version: 1,
      createdAt: 0,
      updatedAt: 0,
      accessLevel: accessLevels.READ,
    },
    above: way.length > 1 ? descendantAt(way.slice(0, -1)) : undefined,
    depth: way.length,
  };
}

const placeAt = (way: readonly { id: string; name: string }[]) => ({
  id: way.at(-1)!.id,
  key: pathKey(descendantAt(way)),
});

const placesOn = (way: readonly { id: string; name: string }[]) =>
  way.map(({ id, name }) => ({ id, key: Buffer.from(sortKey(name)) }));

test('the key of a descendant leads back to the places on the way to it', () => {
  fc.assert(
    fc.property(fc.array(steps, { minLength: 1, maxLength: 12 }), (way) => {
      assert.deepEqual(positionsOfKey(placeAt(way), 'after'), placesOn(way));
    }),
  );
});

test('names of the greatest length and a way of the greatest depth go there and back', () => {
  const way = Array.from({ length: 256 }, (_, place) => ({
    id: `019c1407-aa00-7abc-8def-${place.toString(16).padStart(12, '0')}`,
    name: '👩'.repeat(255),
  }));
  assert.deepEqual(positionsOfKey(placeAt(way), 'after'), placesOn(way));
});

test('a key that is cut short, prolonged, empty or of another folder is refused', () => {
  const way = [
    { id: '019c1407-aa00-7abc-8def-0123456789ab', name: 'Floor 2' },
    { id: '019c1407-bb00-7abc-8def-0123456789ab', name: 'Room' },
  ];
  const { id, key } = placeAt(way);
  const longer = Buffer.concat([key, Buffer.alloc(5)]);
  for (const bad of [key.subarray(0, -1), key.subarray(0, 17), longer, new Uint8Array()]) {
    assert.throws(() => positionsOfKey({ id, key: bad }, 'after'), { code: 'BAD_INPUT' });
  }
  assert.throws(() => positionsOfKey({ id: way[0]!.id, key }, 'after'), { code: 'BAD_INPUT' });
});
