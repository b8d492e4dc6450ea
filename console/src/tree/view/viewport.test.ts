import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { mostPixels, rowHeight, rowWindow } from './viewport.ts';

const seen = 600;

test('the rows at the upper and lower edge are drawn where they are seen', () => {
  const { rows, offset, top } = rowWindow(1_000, 3_015, seen);
  assert.deepEqual(top, { row: 100, past: 15 });
  assert.equal(offset + (100 - rows.from) * rowHeight, 3_000);
  assert.ok(rows.to >= 121);
});

test('a list of any length can be scrolled to its first and its last row, and is never higher than browsers draw', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 5_000_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (count, part) => {
        const { height } = rowWindow(count, 0, seen);
        assert.ok(height <= mostPixels);
        const end = Math.max(0, height - seen);
        const last = rowWindow(count, end, seen);
        assert.equal(last.rows.to, count);
        assert.equal(rowWindow(count, 0, seen).rows.from, 0);
        // Wherever it is scrolled to, what is drawn covers what is seen, and is not much more.
        const { rows, offset } = rowWindow(count, part * end, seen);
        assert.ok(offset <= part * end + 1e-6);
        const below = offset + (rows.to - rows.from) * rowHeight;
        assert.ok(below >= Math.min(part * end + seen, height) - 1e-6);
        assert.ok(rows.to - rows.from <= seen / rowHeight + 20);
      },
    ),
  );
});
