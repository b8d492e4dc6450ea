/** Tests the proposals for the next word. `tests/cli/shell-completion.test.ts` runs the scripts in their shells. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { complete } from './completion.ts';
import { allCommands } from './commands.ts';

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
  for (const alias of ['ls', 'mv', 'rm']) assert.ok((await proposed('folder', alias)).includes(alias), alias);
  assert.ok((await complete(['group', ''])).includes('create\tCreate a group'));
});

test('proposes the flags of a command, of its alias, and of the default command of a group', async () => {
  const flags = ['--yes', '--json', '--url', '--profile', '--api-key-file', '--help'];
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

test('proposes nothing that a shell would have to quote', async () => {
  for (const { name } of allCommands) {
    for (const word of [...(await proposed(name, '')), ...(await proposed(name, '--'))]) {
      assert.match(word, /^:?[\w./-]+$/);
    }
  }
});
