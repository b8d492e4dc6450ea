import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProgress } from './progress.ts';

function terminal(input: { isTTY?: boolean; columns?: number }) {
  const written: string[] = [];
  let now = 0;
  const progress = createProgress({ now: () => now }, { ...input, write: (text) => written.push(text) });
  const at = (milliseconds: number) => {
    now = milliseconds;
    return progress;
  };
  return { progress, at, written };
}

test('nothing is written where there is no terminal', () => {
  const { progress, written } = terminal({});
  progress.show('Copying', 1, 2);
  progress.end();
  assert.deepEqual(written, []);
});

test('a bar is drawn in one line, not too often, and taken away at the end', () => {
  const { progress, at, written } = terminal({ isTTY: true, columns: 70 });
  at(0).show('Copying', 0, 2_000);
  at(50).show('Copying', 10, 2_000);
  at(3_000).show('Copying', 1_000, 2_000);
  progress.end();
  assert.deepEqual(written, [
    '\r\x1b[KCopying [........................] 0 %  0 of 2,000',
    '\r\x1b[KCopying [############............] 50 %  1,000 of 2,000, 3 s left',
    '\r\x1b[K',
  ]);
});

test('a narrow terminal gets the numbers alone, and never a second line', () => {
  const { progress, written } = terminal({ isTTY: true, columns: 20 });
  progress.show('Copying', 1_000_000, 2_000_000);
  assert.deepEqual(written, ['\r\x1b[KCopying 50 %  1,000'.slice(0, 23)]);
});

test('nothing to do is all done', () => {
  const { progress, written } = terminal({ isTTY: true, columns: 40 });
  progress.show('Copying', 0, 0);
  assert.match(written[0]!, /100 %/);
});

test('shows the count of a step without a total, and the time of a step without a count', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const { progress, at, written } = terminal({ isTTY: true, columns: 0 });
  at(0).show('Reading:', 1);
  at(200).show('Reading:', 1_000);
  progress.wait('The server works');
  at(3_200);
  t.mock.timers.tick(1_000);
  progress.end();
  t.mock.timers.tick(5_000);
  assert.deepEqual(written, [
    '\r\x1b[KReading: 1',
    '\r\x1b[KReading: 1,000',
    '\r\x1b[KThe server works … ',
    '\r\x1b[KThe server works … 3 s',
    '\r\x1b[K',
  ]);
});
