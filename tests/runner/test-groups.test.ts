/** Groups of test files for a full run. Each file runs exactly once. */

import assert from 'node:assert/strict';
import { globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { describeStartedFiles, groupFiles, writeGroups } from './test-groups.ts';

const root = join(import.meta.dirname, '../..');
const patterns = ['{contract,client,console,server}/src/**/*.test.ts', 'tests/**/*.test.ts'];
const files = globSync(patterns, { cwd: root });

describe('test file groups', () => {
  test('contain each file once', () => {
    assert.deepEqual(
      groupFiles(files, () => '')
        .flat()
        .sort(),
      files.toSorted(),
    );
  });

  test('begin with the slow files, each in its own group', () => {
    const groups = groupFiles(files, () => '');
    assert.deepEqual(groups[0], ['tests/console/axe.test.ts']);
    assert.deepEqual(
      groups.filter((group) => group.includes('tests/tree/tree-races.test.ts')),
      [['tests/tree/tree-races.test.ts']],
    );
    assert.ok(groups.length < files.length / 2, `${groups.length} groups for ${files.length} files`);
  });

  test('isolate a file that has hooks outside a suite or changes its process', () => {
    const file = 'tests/people/people.test.ts';
    const isIsolatedWith = (text: string) =>
      groupFiles(files, (each) => (each === file ? text : '')).some((group) => group.join() === file);
    for (const text of [
      `describe('', () => {\n  beforeEach(() => {});\n});`,
      "import { spawn } from 'node:child_process';",
      "const env = { ...process.env, PATH: process.env['PATH'] };",
      "assert.equal(process.env['A'] === 'b', process.getuid!() === 0);",
      "process.kill(other, 'SIGKILL'); this.#process.on('exit', end);",
    ])
      assert.equal(isIsolatedWith(text), false, text);
    for (const text of [
      'beforeEach(() => {});',
      "process.env['A'] = 'b';",
      "delete process.env['A'];",
      "process.on('exit', end);",
      'process.umask(0);',
      'process.cpuUsage();',
      'globalThis.fetch = other;',
      "mock.method(fs, 'x')",
      "import { registerHooks } from 'node:module';",
      'Socket.prototype.write = other;',
    ])
      assert.equal(isIsolatedWith(text), true, text);
  });

  test('are written as files that import the test files, with names in starting order', () => {
    const folder = mkdtempSync(join(tmpdir(), 'espalier-groups-'));
    try {
      writeGroups(patterns, join(folder, 'groups'));
      const names = readdirSync(join(folder, 'groups')).sort();
      assert.equal(describeStartedFiles(join(folder, 'groups', names[0]!)), 'tests/console/axe');
      const importedFiles = names.flatMap((name) =>
        [...readFileSync(join(folder, 'groups', name), 'utf8').matchAll(/"file:.*?"/g)].map(([url]) => url),
      );
      assert.equal(importedFiles.length, files.length);
      assert.equal(new Set(importedFiles).size, files.length);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
