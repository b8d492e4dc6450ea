/** The promises of README: its commands do what it shows, and its figures are those that were measured. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findFreePort } from '../free-port.ts';
import { followPage, root } from './follow-page.ts';

const testCommand = 'npm install && npm test';

test('every block of README that is pasted into a clone leads to what it shows', async () => {
  // This test is a part of that command.
  await followPage('README.md', { isInstalled: true, port: await findFreePort(), leftOut: [testCommand] });
});

test('the test command of README is what the checks run, and this is a part of it', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const checks = readFileSync(join(root, '.ci/run'), 'utf8');
  assert.ok(readme.includes(`\`\`\`sh\n${testCommand}\n\`\`\``));
  assert.match(checks, /^npm install .*\n(?:.*\n)*npm test( \|\| tested=\$\?)?$/m);
});

test('the figures of README are those of bench/RESULTS.md', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const results = readFileSync(join(root, 'bench/RESULTS.md'), 'utf8');
  // Of the tables that have a scenario, the last one here is the first there: what was measured.
  const measured = new Map(
    rowsOf(results)
      .toReversed()
      .map((cells) => [cells[0], cells]),
  );
  const shown = rowsOf(readme).filter(([, scenario]) => /^`[\w-]+`$/.test(scenario ?? ''));
  assert.equal(shown.length, 8);
  for (const [, scenario, perSecond, , ratio] of shown) {
    const row = measured.get(scenario!.replaceAll('`', ''))!;
    assert.deepEqual([scenario, perSecond, ratio], [scenario, row[7], row[3]]);
  }
  const [, start, memory] = /starts in (\S+) ms and takes (\S+) MB/.exec(readme)!;
  assert.deepEqual([start, memory], [measured.get('start')![1], measured.get('memory')![1]]);
});

function rowsOf(page: string): string[][] {
  const lines = page.split('\n').filter((line) => line.startsWith('|'));
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}
