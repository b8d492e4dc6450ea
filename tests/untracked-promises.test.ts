/** Without following promises nothing is lost but the name of the test. */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

describe('a file whose promises are not followed', () => {
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

  test('passes, with its tests where they belong', () => {
    const { status, stdout } = run('');
    assert.equal(status, 0, stdout);
    assert.match(stdout, /^ {8}ok 1 - inner$/m);
    assert.match(stdout, /^ {4}ok 2 - second$/m);
    assert.match(stdout, /^ok 1 - outer$/m);
  });

  for (const [what, body] of Object.entries({
    'a rejection that nobody awaits': `void Promise.reject(new Error('a mistake'));`,
    'an error that nobody catches': `setImmediate(() => { throw new Error('a mistake'); });`,
    'an assertion that fails': `throw new Error('a mistake');`,
  })) {
    test(`fails by ${what}, and tells it`, () => {
      const { status, stdout } = run(body);
      assert.equal(status, 1, stdout);
      assert.match(stdout, /a mistake/);
    });
  }
});
