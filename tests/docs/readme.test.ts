/** Checks that the commands of README print the output on the page, and that its figures are those of the benchmark. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { findFreePort } from '../support/free-port.ts';
import { followPage, root } from './follow-page.ts';

const testCommand = 'npm install && npm test';

test('every block of README works in a clone and prints the output on the page', async () => {
  // The skipped command would run this test again.
  await followPage('README.md', {
    isInstalled: true,
    port: await findFreePort(),
    skippedBlocks: [testCommand],
  });
});

test('README contains the test command that the checks run', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const checks = readFileSync(join(root, '.ci/run'), 'utf8');
  assert.ok(readme.includes(`\`\`\`sh\n${testCommand}\n\`\`\``));
  assert.match(checks, /^npm install .*\n(?:.*\n)*npm test( \|\| test_status=\$\?)?$/m);
});

test('README contains the summary of bench/RESULTS.md', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const results = readFileSync(join(root, 'bench/RESULTS.md'), 'utf8');
  const [summary] = /^\| What +\| Scenario [^]*?(?=\n\n)/m.exec(results)!;
  assert.ok(summary.split('\n').length > 9, summary);
  assert.ok(readme.includes(summary), 'Copy the summary of bench/RESULTS.md into README.md.');
});
