/** The script for bash is run by bash. Those for zsh and fish are compared with the table; the shells may not be here. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { allCommands } from '../commands.ts';
import { bashScript } from './bash.ts';
import { readCommandTree, type CommandTree } from './command-tree.ts';
import { fishScript } from './fish.ts';
import { zshScript } from './zsh.ts';

let tree: CommandTree;
before(async () => (tree = await readCommandTree(allCommands)));

describe('completion in bash', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'espalier-completion-'));
    writeFileSync(join(folder, 'script'), bashScript(tree));
    writeFileSync(join(folder, 'pass word'), '');
  });
  after(() => rmSync(folder, { recursive: true }));

  /** The proposals for the last word. The words are split as bash splits them. */
  async function proposed(...words: string[]): Promise<string[]> {
    const program = `. ./script; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _espalier; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const options = { cwd: folder };
    const { stdout } = await promisify(execFile)(
      'bash',
      ['-c', program, 'bash', 'espalier', ...words],
      options,
    );
    return stdout.split('\n').filter(Boolean);
  }

  test('the first word, and the second', async () => {
    const first = await proposed('');
    for (const { name } of allCommands) assert.ok(first.includes(name.split(' ', 1)[0]!), name);
    assert.equal(new Set(first).size, first.length);
    assert.deepEqual(await proposed('who'), ['whoami']);
    assert.deepEqual(await proposed('help', 'who'), ['whoami']);
    assert.deepEqual(await proposed('group', ''), ['ls', 'show', 'add', 'rename', 'join', 'leave', 'rm']);
    assert.deepEqual(await proposed('nonsense', ''), []);
  });

  test('completes the flags of a command, and those of the default command of a group', async () => {
    assert.deepEqual(await proposed('user', 'rm', '--'), ['--yes', '--json', '--url', '--profile', '--help']);
    assert.ok((await proposed('journal', '--f')).includes('--follow'));
    assert.deepEqual(await proposed('user', 'rm', '--', '--'), []);
    assert.deepEqual(await proposed('--v'), ['--version']);
  });

  test('fixed words at their place, whatever flags stand before them', async () => {
    const levels = ['read', 'write', 'manage', 'none'];
    assert.deepEqual(await proposed('grant', 'set', '/', ''), levels);
    assert.deepEqual(await proposed('grant', 'set', 'id', ':', 'abc', ''), levels);
    assert.deepEqual(await proposed('grant', 'set', '--user', 'bob', '/', 'm'), ['manage']);
    assert.deepEqual(await proposed('grant', 'set', '--user', '=', 'bob', '--json', '/', 'm'), ['manage']);
    assert.deepEqual(await proposed('grant', 'set', ''), []);
  });

  test('values of flags: fixed words, files, or nothing', async () => {
    assert.deepEqual(await proposed('journal', 'ls', '--kind', 'move'), ['move-folder']);
    assert.deepEqual(await proposed('journal', 'ls', '--kind', '=', 'move'), ['move-folder']);
    assert.deepEqual(await proposed('user', 'add', 'bob', '--password-file', 'pass'), ['pass word']);
    assert.deepEqual(await proposed('user', 'add', 'bob', '--password-file', '='), ['pass word', 'script']);
    assert.deepEqual(await proposed('journal', 'ls', '--by', ''), []);
  });
});

test('the scripts for zsh and fish hold every command and every flag', () => {
  const [zsh, fish] = [zshScript(tree), fishScript(tree)];
  for (const { name, flags } of tree.commands) {
    assert.ok(zsh.includes(`'${name}') _arguments`), name);
    for (const flag of flags) {
      assert.ok(zsh.includes(`--${flag.name}${flag.value === undefined ? '' : '='}[`), flag.name);
      assert.ok(fish.includes(`'__espalier_in \\'${name}\\'' -l ${flag.name}`), `${name} ${flag.name}`);
    }
  }
});

test('nothing that is proposed needs to be quoted', () => {
  const choices = tree.commands.flatMap(({ flags, words }) =>
    [...flags, ...words].flatMap(({ completes }) =>
      Array.isArray(completes) ? (completes as string[]) : [],
    ),
  );
  for (const choice of choices) assert.match(choice, /^[\w.-]+$/);
});
