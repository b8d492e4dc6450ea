import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everyCommand, parseCommand } from '../../../tests/cli/parse-command.ts';
import { flagsOf } from '../config/read-setting.ts';
import { settingsTable } from '../config/settings-table.ts';
import type { Setting } from '../config/setting.ts';
import { UsageError } from '../config/start-error.ts';
import { createProgram, findGroupDefault } from './commands.ts';
import { copy } from './copy.ts';
import { serve } from './serve.ts';
import { fullName } from './usage-error.ts';

/** The settings of the arguments of `espalier serve`. */
const parseFlags = (args: readonly string[]) => parseCommand('serve', serve, args).flags;

const settings = Object.values<Setting<unknown>>(settingsTable);

const refusedWith = (args: string[], message: RegExp) =>
  assert.throws(
    () => parseFlags(args),
    (error) => error instanceof UsageError && message.test(error.message),
  );

test('reads no flags from no arguments', () => {
  assert.deepEqual(parseFlags([]), {});
});

test('reads a value after its flag or after an equals sign', () => {
  assert.deepEqual(parseFlags(['--port', '80', '--host=::1']), { port: '80', host: '::1' });
});

test('splits a flag from its value at the first equals sign only', () => {
  assert.deepEqual(parseFlags(['--issuer=a=b=c']), { issuer: 'a=b=c' });
});

test('accepts empty values, values of several lines and values that start with a dash', () => {
  assert.deepEqual(parseFlags(['--issuer=', '--log-level', '']), { issuer: '', 'log-level': '' });
  assert.deepEqual(parseFlags(['--issuer=a\nb']), { issuer: 'a\nb' });
  assert.deepEqual(parseFlags(['--port', '-1']), { port: '-1' });
});

test('takes no value for a switch', () => {
  assert.deepEqual(parseFlags(['--demo', '--port', '80']), { demo: 'true', port: '80' });
  refusedWith(['--demo=false'], /^Unknown option '--demo'/);
  refusedWith(['--demo', 'false'], /^Too many arguments/);
});

test('uses the last value of a repeated flag', () => {
  assert.deepEqual(parseFlags(['--port', '1', '--port=2']), { port: '2' });
});

test('refuses a flag without its value', () => {
  refusedWith(['--demo', '--port'], /^Option '--port <port>' argument missing\. Run/);
});

test('refuses an unknown flag and suggests the one that was probably meant', () => {
  refusedWith(['--prot', '80'], /^Unknown option '--prot'\. Did you mean --port\? .*--help/);
  refusedWith(
    ['--color-of-the-shed'],
    /^Unknown option '--color-of-the-shed'\. Run 'espalier tested --help'/,
  );
});

test('suggests the file flag of a secret without displaying the value, which may be a password', () => {
  for (const args of [['--admin-password=hunter2'], ['--admin-password', 'hunter2']]) {
    refusedWith(args, /^Unknown option '--admin-password'\. Did you mean --admin-password-file\? Run [^=]*$/);
  }
});

test('refuses arguments that do not look like a flag', () => {
  for (const argument of ['port', '-p', '--=80', '', '-port=80', '--PORT=80']) {
    refusedWith([argument], /^Unknown option|^Too many arguments/);
  }
});

test('refuses flags that are named like a member of every JavaScript object', () => {
  for (const argument of ['--constructor=x', '--__proto__=x', '--toString']) {
    refusedWith([argument], /^Unknown option/);
  }
});

test('gives every setting its own flag', () => {
  const names = settings.flatMap(flagsOf);
  assert.equal(new Set(names).size, names.length);
  for (const setting of settings) {
    for (const name of flagsOf(setting)) {
      assert.match(name, /^[a-z]+(-[a-z]+)*$/);
      assert.deepEqual(parseFlags(setting.isSwitch ? [`--${name}`] : [`--${name}`, 'true']), {
        [name]: 'true',
      });
    }
  }
});

test('gives a secret only a flag for its file', () => {
  assert.deepEqual(flagsOf(settingsTable.adminPassword), ['admin-password-file']);
  refusedWith(['--admin-password', 'x'], /^Unknown option '--admin-password'\./);
});

test('leaves surplus arguments out of the message, because they may be URLs with a password', () => {
  const args = ['sqlite:a.db', 'sqlite:b.db', 'postgres://me:secret@host/x'];
  assert.throws(
    () => parseCommand('copy', copy, args),
    (error) => error instanceof UsageError && !error.message.includes('secret'),
  );
});

test('runs the default command of a group, and shows its help if the group has no other command', async () => {
  assert.equal(await findGroupDefault('signing-key', false), 'list');
  assert.equal(await findGroupDefault('signing-key', true), undefined);
  assert.equal(await findGroupDefault('journal', true), 'list');
  assert.equal(await findGroupDefault('folder', false), undefined);
});

test('suggests a command for a word from other programs, but never a dangerous command', async () => {
  for (const [words, meant] of [
    [['folder', 'undelete', 'x'], 'restore'],
    [['folder', 'rename', 'x'], 'move'],
    [['folder', 'remove', '/Places'], 'delete'],
    [['folder', 'edit', '/a'], 'update'],
    [['folder', 'serch', 'x'], 'search'],
    [['session', 'remove'], 'revoke'],
    [['user', 'edit', 'anna'], 'rename'],
    [['ls'], 'folder list'],
    [['users'], 'user'],
  ] as const) {
    const program = await createProgram(words[0], words[1]);
    assert.throws(
      () => program.parse(words, { from: 'user' }),
      (error) => error instanceof UsageError && error.message.includes(`Did you mean ${meant}?`),
      words.join(' '),
    );
  }
  const program = await createProgram('folder', 'constructor');
  assert.throws(() => program.parse(['folder', 'constructor'], { from: 'user' }), /The commands are list,/);
});

test('documents every command with a verb and examples of its use, without Markdown', async () => {
  for (const command of await everyCommand()) {
    let help = '';
    command.configureOutput({ writeOut: (text) => (help += text) }).outputHelp();
    const name = `espalier ${fullName(command)}`;
    assert.match(help, /^Usage: espalier /, name);
    assert.doesNotMatch(help, /.{101}/u, `${name} has lines of more than 100 columns.`);
    const [, examples = ''] = /\nExamples:\n([^]+)$/.exec(help) ?? [];
    assert.ok(examples.includes('espalier '), `${name} has no example.`);
    assert.doesNotMatch(help.replaceAll('|-- and `--', ''), /`|\]\(|\*\*/, `${name} contains Markdown.`);
  }
});
