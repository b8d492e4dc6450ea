/** Shows that errors are still reported when promises are not tracked. Only the name of the test is lost. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

describe('a test file without promise tracking', () => {
  let folder: string;
  before(() => (folder = mkdtempSync(join(tmpdir(), 'espalier-promises-'))));
  after(() => rmSync(folder, { recursive: true }));

  const run = (body: string) => {
    const file = join(folder, 'one.test.mjs');
    writeFileSync(
      file,
      `import { describe, test } from 'node:test';
      describe('outer', () => {
        test('first', async (context) => { await context.test('inner', async () => { await 1; }); });
        test('second', async () => { await 1; ${body} await new Promise(setImmediate); });
      });`,
    );
    const preload = join(import.meta.dirname, 'untracked-promises.ts');
    const { status, stdout } = spawnSync(
      process.execPath,
      [`--import=${preload}`, '--test', '--test-reporter=tap', file],
      { encoding: 'utf8', env: { PATH: process.env['PATH'] } },
    );
    return { status, stdout };
  };

  test('passes and keeps the nesting of its tests', () => {
    const { status, stdout } = run('');
    assert.equal(status, 0, stdout);
    assert.match(stdout, /^ {8}ok 1 - inner$/m);
    assert.match(stdout, /^ {4}ok 2 - second$/m);
    assert.match(stdout, /^ok 1 - outer$/m);
  });

  for (const [cause, body] of Object.entries({
    'an unhandled rejection': `void Promise.reject(new Error('a mistake'));`,
    'an uncaught error': `setImmediate(() => { throw new Error('a mistake'); });`,
    'a failing assertion': `throw new Error('a mistake');`,
  })) {
    test(`fails on ${cause} and prints it`, () => {
      const { status, stdout } = run(body);
      assert.equal(status, 1, stdout);
      assert.match(stdout, /a mistake/);
    });
  }
});
