/** The reader of pages notices what goes wrong: otherwise every page would be right. */

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, describe, test } from 'node:test';
import { readPage, stepsOf } from './page-steps.ts';
import { isShown } from './shown-output.ts';
import { Terminal } from './terminal.ts';

describe('a terminal', () => {
  let folder: string;
  let terminal: Terminal;
  before(() => (folder = mkdtempSync(join(tmpdir(), 'espalier-terminal-'))));
  after(() => rmSync(folder, { recursive: true }));
  beforeEach(() => (terminal = new Terminal({ folder, scratch: folder, environment: process.env })));
  afterEach(() => terminal.close());

  test('knows what the blocks before have set, and where they went', async () => {
    await terminal.paste('mkdir -p below && cd below\nGARDEN=green');
    await terminal.finish();
    assert.equal(terminal.where, join(folder, 'below'));
    await terminal.paste('echo $GARDEN; echo loud >&2');
    await terminal.finish();
    assert.equal(await terminal.look(() => true), 'green\nloud\n');
  });

  test('tells of a command that fails, also if one follows that does not', async () => {
    await terminal.paste('echo before\nfalse\necho after');
    await assert.rejects(terminal.finish(), /^Error: false failed, and showed:\nbefore\n/);
  });

  test('goes on after Ctrl-C has stopped what stays', async () => {
    // What says that it is up must be what the key is for: between two programs, it would stop neither.
    await terminal.paste("sh -c 'echo up; exec tail -f /dev/null'");
    assert.equal(await terminal.look((text) => text === 'up\n'), 'up\n');
    terminal.pressCtrlC();
    await terminal.paste('echo next');
    await terminal.finish();
    assert.equal(await terminal.look(() => true), 'next\n');
  });

  test('shows what came when something else was expected, as soon as the command has ended', async () => {
    await terminal.paste('echo something');
    assert.equal(await terminal.look((text) => text === 'never\n'), 'something\n');
  });
});

test('what is shown must be what is expected, but for what is left open', () => {
  assert.ok(isShown('Made /Garden.', 'Made /Garden.\n'));
  assert.ok(isShown('{"id":"…"}', '{"id":"1"}'));
  assert.ok(isShown('…\nlast', 'first\nsecond\nlast'));
  assert.ok(isShown('first\n…', 'first'));
  for (const [expected, shown] of [
    ['Made /Garden.', 'Made /Garden!'],
    ['Made /Garden.', 'Made /Garden.\nand more'],
    ['{"id":"…"}', '{"id":""}'],
    ['{"id":"…"}', '{"id":"1\n"}'],
    ['…\nlast', 'first\nlast but one'],
    ['one', ''],
  ] as const) {
    assert.ok(!isShown(expected, shown), `${shown} is not ${expected}`);
  }
});

test('a page is read in order, and a block that nobody knows what to do with is a mistake', () => {
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
  assert.throws(() => stepsOf('```python\nprint()\n```'), /Line 1: it is not said what to do with python/);
  assert.throws(() => stepsOf('```sh stay\nnpm start\n```'), /Line 1: nobody knows the mark stay/);
  assert.throws(() => readPage('```sh\nnpm start'), /The block of line 1 has no end/);
});
