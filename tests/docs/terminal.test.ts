/** Tests the reader of pages, because every page would pass with a reader that misses failures. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { readPage, stepsOf } from './page-steps.ts';
import { matchesOutput } from './matches-output.ts';
import { Terminal } from './terminal.ts';

describe('a terminal', () => {
  let folder: string;
  let terminal: Terminal;
  before(() => (folder = mkdtempSync(join(tmpdir(), 'espalier-terminal-'))));
  after(() => rmSync(folder, { recursive: true }));
  beforeEach(() => (terminal = new Terminal({ folder, scratch: folder, environment: process.env })));
  afterEach(() => terminal.close());

  test('keeps variables and the current folder between blocks', async () => {
    await terminal.paste('mkdir -p below && cd below\nGARDEN=green');
    await terminal.finish();
    assert.equal(terminal.currentFolder, join(folder, 'below'));
    await terminal.paste('echo $GARDEN; echo loud >&2');
    await terminal.finish();
    assert.equal(await terminal.readOutput(() => true), 'green\nloud\n');
  });

  test('reports a failing command even if a later one succeeds', async () => {
    await terminal.paste('echo before\nfalse\necho after');
    await assert.rejects(terminal.finish(), /^Error: false failed, and showed:\nbefore\n/);
  });

  test('continues after Ctrl-C stops a running command', async () => {
    // One process prints and then waits. With two processes, Ctrl-C could arrive between them and stop neither.
    await terminal.paste("sh -c 'echo up; exec tail -f /dev/null'");
    assert.equal(await terminal.readOutput((text) => text === 'up\n'), 'up\n');
    terminal.pressCtrlC();
    await terminal.paste('echo next');
    await terminal.finish();
    assert.equal(await terminal.readOutput(() => true), 'next\n');
  });

  test('returns unexpected output as soon as the command has ended', async () => {
    await terminal.paste('echo something');
    assert.equal(await terminal.readOutput((text) => text === 'never\n'), 'something\n');
  });
});

test('matchesOutput() accepts only exact output, except for placeholders', () => {
  assert.ok(matchesOutput('Created /Garden.', 'Created /Garden.\n'));
  assert.ok(matchesOutput('{"id":"…"}', '{"id":"1"}'));
  assert.ok(matchesOutput('…\nlast', 'first\nsecond\nlast'));
  assert.ok(matchesOutput('first\n…', 'first'));
  for (const [expected, output] of [
    ['Created /Garden.', 'Created /Garden!'],
    ['Created /Garden.', 'Created /Garden.\nand more'],
    ['{"id":"…"}', '{"id":""}'],
    ['{"id":"…"}', '{"id":"1\n"}'],
    ['…\nlast', 'first\nlast but one'],
    ['one', ''],
  ] as const) {
    assert.ok(!matchesOutput(expected, output), `${output} is not ${expected}`);
  }
});

test('stepsOf() returns the steps in the order of the page', () => {
  const page = [
    'Open <http://127.0.0.1:8080/console>.',
    '```sh terminal=2 stays',
    'npm start',
    '```',
    '```text',
    'up',
    '```',
    '<!-- Ctrl-C in terminal 2 -->',
  ].join('\n');
  assert.deepEqual(stepsOf(page), [
    { kind: 'open', line: 1, url: 'http://127.0.0.1:8080/console' },
    { kind: 'run', line: 2, terminal: 2, text: 'npm start', stays: true },
    { kind: 'see', line: 5, terminal: 2, text: 'up' },
    { kind: 'press', line: 8, terminal: 2 },
  ]);
});

test('stepsOf() and readPage() reject invalid blocks', () => {
  assert.throws(() => stepsOf('```python\nprint()\n```'), /Line 1: unknown language python/);
  assert.throws(() => stepsOf('```sh stay\nnpm start\n```'), /Line 1: unknown directive stay/);
  assert.throws(() => readPage('```sh\nnpm start'), /The block of line 1 has no end/);
});
