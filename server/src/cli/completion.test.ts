/** Bash runs its script with the program. The scripts for zsh and fish call the same function; the shells may not be here. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { complete, completion } from './completion.ts';
import { allCommands } from './commands.ts';
import type { Output } from './command.ts';

const program = join(import.meta.dirname, '../../bin/espalier.js');

async function scriptFor(shell: string): Promise<string> {
  const output = (await completion.run({ words: [shell], options: {}, flags: {} } as never)) as Output;
  return 'text' in output ? String(output.text) : '';
}

/** The proposals without their descriptions. */
async function proposed(...words: string[]): Promise<string[]> {
  return (await complete(words)).map((line) => line.split('\t')[0]!);
}

test('proposes commands, then their verbs, with descriptions', async () => {
  const first = await proposed('');
  for (const { name } of allCommands) assert.ok(first.includes(name), name);
  assert.equal(new Set(first).size, first.length);
  assert.deepEqual(await proposed('help', ''), first);
  const verbs = ['list', 'show', 'create', 'rename', 'join', 'leave', 'delete'];
  assert.deepEqual(await proposed('group', ''), verbs);
  assert.deepEqual(await proposed('nonsense', ''), []);
  assert.ok((await complete(['group', ''])).includes('create\tCreate a group'));
});

test('proposes the flags of a command, of its alias, and of the default command of a group', async () => {
  const flags = ['--yes', '--json', '--url', '--profile', '--help'];
  assert.deepEqual(await proposed('user', 'delete', '--'), flags);
  assert.deepEqual(await proposed('user', 'rm', '--'), flags);
  assert.ok((await proposed('journal', '--f')).includes('--follow'));
  assert.deepEqual(await proposed('user', 'delete', '--', '--'), []);
  assert.deepEqual(await proposed('--v'), ['--help', '--version']);
});

test('proposes fixed words at their position, with and without flags before them', async () => {
  const levels = ['read', 'write', 'manage', 'none'];
  assert.deepEqual(await proposed('grant', 'create', '/', ''), levels);
  assert.deepEqual(await proposed('grant', 'set', 'id', ':', 'abc', ''), levels);
  assert.deepEqual(await proposed('grant', 'create', '--user', 'bob', '/', 'm'), levels);
  assert.deepEqual(await proposed('grant', 'create', '--user', '=', 'bob', '--json', '/', 'm'), levels);
  assert.deepEqual(await proposed('grant', 'create', ''), []);
});

test('proposes values of flags: fixed words, files, or nothing', async () => {
  assert.ok((await proposed('journal', 'list', '--kind', 'move')).includes('move-folder'));
  assert.ok((await proposed('journal', 'list', '--kind', '=', 'move')).includes('move-folder'));
  assert.ok((await proposed('journal', 'list', '--kind=move')).includes('move-folder'));
  assert.deepEqual(await proposed('folder', 'export', '--format', ''), ['csv', 'json', 'ndjson']);
  assert.deepEqual(await proposed('user', 'create', 'bob', '--password-file', 'pass'), [':files']);
  assert.deepEqual(await proposed('journal', 'list', '--by', ''), []);
});

describe('the script for bash', () => {
  let folder: string;
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-completion-'));
    writeFileSync(join(folder, 'script'), await scriptFor('bash'));
    writeFileSync(join(folder, 'pass word'), '');
  });
  after(() => rmSync(folder, { recursive: true }));

  /** The words are split as bash splits them. */
  async function completed(...words: string[]): Promise<string[]> {
    const espalier = `espalier() { '${process.execPath}' --conditions=espalier-source '${program}' "$@"; }`;
    const call = `COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _espalier; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const args = ['-c', `${espalier}; . ./script; ${call}`, 'bash', 'espalier', ...words];
    const { stdout } = await promisify(execFile)('bash', args, { cwd: folder });
    return stdout.split('\n').filter(Boolean);
  }

  test('completes commands, flags, fixed words and files', async () => {
    assert.deepEqual(await completed('who'), ['whoami']);
    assert.deepEqual(await completed('user', 'delete', '--y'), ['--yes']);
    assert.deepEqual(await completed('grant', 'create', 'id', ':', 'abc', 'm'), ['manage']);
    assert.deepEqual(await completed('journal', '--kind', '=', 'move'), ['move-folder']);
    assert.deepEqual(await completed('user', 'create', 'bob', '--password-file', 'pass'), ['pass word']);
    assert.deepEqual(await completed('user', 'create', 'bob', '--password-file', '='), [
      'pass word',
      'script',
    ]);
    assert.deepEqual(await completed('nonsense', ''), []);
  });
});

test('prints a script for each shell that calls the program', async () => {
  for (const shell of ['bash', 'zsh', 'fish']) assert.match(await scriptFor(shell), /espalier __complete/);
});

test('proposes nothing that a shell would have to quote', async () => {
  for (const { name } of allCommands) {
    for (const word of [...(await proposed(name, '')), ...(await proposed(name, '--'))]) {
      assert.match(word, /^:?[\w./-]+$/);
    }
  }
});
