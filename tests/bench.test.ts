/** That the races run, and end with a table. What they measure is nothing to assert. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';

const program = join(import.meta.dirname, '../bench/bench.ts');

function bench(...args: string[]): Promise<{ stdout: string; stderr: string }> {
  // It is no test itself: its servers run as they always do.
  const env = { ...process.env };
  delete env['NODE_TEST_CONTEXT'];
  return promisify(execFile)(process.execPath, ['--conditions=espalier-source', program, ...args], { env });
}

test('the bench races ours against the floor, and prints a line for each scenario', async () => {
  const { stdout } = await bench('verify', '--rounds', '1', '--requests', '20');
  assert.match(stdout, /^verify +[\d.,]+ +[\d.,]+ +\d/m);
});

test('the bench names its scenarios to whoever asks for one that is not there', async () => {
  await assert.rejects(bench('rooot'), ({ code, stderr }: { code: number; stderr: string }) => {
    assert.equal(code, 1);
    assert.match(stderr, /no scenario rooot[^]*reads: root, children, levels, page/);
    return true;
  });
});
