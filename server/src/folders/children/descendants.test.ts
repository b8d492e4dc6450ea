import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { accessLevels } from '../../access/access.ts';
import { positionsOfKey, pathKey, type Descendant } from './descendants.ts';
import { sortKey } from '../folder-texts.ts';

const steps = fc.record({
  id: fc.uuid(),
  name: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 255 }),
});

/** The last folder of a path. */
function descendantAt(path: readonly { id: string; name: string }[]): Descendant {
  const last = path.at(-1)!;
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
    above: path.length > 1 ? descendantAt(path.slice(0, -1)) : undefined,
    depth: path.length,
  };
}

const positionAt = (path: readonly { id: string; name: string }[]) => ({
  id: path.at(-1)!.id,
  key: pathKey(descendantAt(path)),
});

const positionsOn = (path: readonly { id: string; name: string }[]) =>
  path.map(({ id, name }) => ({ id, key: Buffer.from(sortKey(name)) }));

test('positionsOfKey() returns the positions that pathKey() encoded', () => {
  fc.assert(
    fc.property(fc.array(steps, { minLength: 1, maxLength: 12 }), (path) => {
      assert.deepEqual(positionsOfKey(positionAt(path), 'after'), positionsOn(path));
    }),
  );
});

test('pathKey() encodes names of the maximum length in a path of the maximum depth', () => {
  const path = Array.from({ length: 256 }, (_, index) => ({
    id: `019c1407-aa00-7abc-8def-${index.toString(16).padStart(12, '0')}`,
    name: '👩'.repeat(255),
  }));
  assert.deepEqual(positionsOfKey(positionAt(path), 'after'), positionsOn(path));
});

test('positionsOfKey() rejects a key that is truncated, extended, empty or of another folder', () => {
  const path = [
    { id: '019c1407-aa00-7abc-8def-0123456789ab', name: 'Floor 2' },
    { id: '019c1407-bb00-7abc-8def-0123456789ab', name: 'Room' },
  ];
  const { id, key } = positionAt(path);
  const longer = Buffer.concat([key, Buffer.alloc(5)]);
  for (const bad of [key.subarray(0, -1), key.subarray(0, 17), longer, new Uint8Array()]) {
    assert.throws(() => positionsOfKey({ id, key: bad }, 'after'), { code: 'BAD_INPUT' });
  }
  assert.throws(() => positionsOfKey({ id: path[0]!.id, key }, 'after'), { code: 'BAD_INPUT' });
});
