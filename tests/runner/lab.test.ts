import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { experiments } from '../lab.ts';

const tests = join(import.meta.dirname, '..');

function lab(...options: string[]): Promise<{ code: unknown; output: string; errors: string }> {
  const command = ['--conditions=espalier-source', join(tests, 'lab.ts'), ...options];
  return new Promise((resolve) =>
    execFile(process.execPath, command, (error, output, errors) =>
      resolve({ code: error ? error.code : 0, output, errors }),
    ),
  );
}

describe('npm run lab', () => {
  test('has a script for every name', () => {
    for (const [name, { script }] of Object.entries(experiments)) {
      assert.ok(existsSync(join(tests, script)), name);
    }
  });

  test('lists every experiment if no name is passed', async () => {
    const { code, output } = await lab();
    assert.equal(code, 0);
    for (const [name, { about }] of Object.entries(experiments)) {
      assert.ok(
        output.split('\n').some((line) => line.startsWith(`  ${name} `) && line.includes(about)),
        name,
      );
    }
  });

  test('rejects an unknown name with a suggestion and the list', async () => {
    const { code, output, errors } = await lab('chaso');
    assert.equal(code, 2);
    assert.equal(output, '');
    assert.match(errors, /^There is no experiment chaso\. Did you mean chaos\?\n\nUsage: npm run lab/);
  });

  test('passes options and the exit code of the experiment', async () => {
    const help = await lab('copy', '--help');
    assert.equal(help.code, 0);
    assert.match(help.output, /^npm run lab -- copy /);
    assert.equal((await lab('copy', '--unknown')).code, 2);
  });
});
