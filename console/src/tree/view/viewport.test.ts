import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { maxListPixels, computeRowWindow } from './viewport.ts';

const viewHeight = 600;
const rowHeight = 30;

test('renders the rows at the upper and lower edge at their positions', () => {
  const { rows, offset, top } = computeRowWindow(1_000, 3_015, viewHeight);
  assert.deepEqual(top, { row: 100, scrolledBy: 15 });
  assert.equal(offset + (100 - rows.from) * rowHeight, 3_000);
  assert.ok(rows.to >= 121);
});

test('scrolls a list of any length from first to last row within the height limit of browsers', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 5_000_000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (count, part) => {
        const { height } = computeRowWindow(count, 0, viewHeight);
        assert.ok(height <= maxListPixels);
        const end = Math.max(0, height - viewHeight);
        const last = computeRowWindow(count, end, viewHeight);
        assert.equal(last.rows.to, count);
        assert.equal(computeRowWindow(count, 0, viewHeight).rows.from, 0);
        // At every scroll position, the rendered rows cover the view and little more.
        const { rows, offset } = computeRowWindow(count, part * end, viewHeight);
        assert.ok(offset <= part * end + 1e-6);
        const below = offset + (rows.to - rows.from) * rowHeight;
        assert.ok(below >= Math.min(part * end + viewHeight, height) - 1e-6);
        assert.ok(rows.to - rows.from <= viewHeight / rowHeight + 20);
      },
    ),
  );
});
