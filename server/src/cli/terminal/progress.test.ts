import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { test } from 'node:test';
import { createProgress, formatShare } from './progress.ts';

/** A stream that counts as a terminal. */
function terminal(isTTY: boolean) {
  const stream = Object.assign(new PassThrough(), {
    isTTY,
    columns: 60,
    cursorTo: () => true,
    clearLine: () => true,
  });
  return stream as unknown as NodeJS.WriteStream & PassThrough;
}

test('writes nothing without a terminal', () => {
  const stream = terminal(false);
  const progress = createProgress(stream);
  progress.show('Copying', 1, 2);
  progress.wait('Checking');
  progress.end();
  assert.equal(stream.read(), null);
});

test('shows the current step on a terminal until its end', async () => {
  const stream = terminal(true);
  const progress = createProgress(stream, { now: () => 0 });
  progress.show('Copying', 500, 2_000);
  await once(stream, 'readable');
  progress.end();
  progress.show('Reading', 7);
  progress.end();
  assert.match(String(stream.read()), /Copying 25 % {2}500 of 2,000/);
});

test('formats the share, and after two seconds the remaining time', () => {
  assert.equal(formatShare(0, 2_000, 0), '0 %  0 of 2,000');
  assert.equal(formatShare(1_000, 2_000, 3_000), '50 %  1,000 of 2,000, 3 s left');
  assert.equal(formatShare(1, 1_000, 600_000), '0 %  1 of 1,000, 9990 min left');
  assert.equal(formatShare(0, 0, 5_000), '100 %  0 of 0');
});
