import assert from 'node:assert/strict';
import { test } from 'node:test';
import { flagsOf, settingsTable } from '../config/config.ts';
import type { Setting } from '../config/setting.ts';
import { StartError } from '../config/start-error.ts';
import { readInput } from './command.ts';
import { serve } from './serve.ts';

/** The settings of the arguments of `espalier serve`. */
const parseFlags = (args: readonly string[]) => readInput('serve', serve, args).flags;

const settings = Object.values<Setting<unknown>>(settingsTable);

const refusedWith = (args: string[], message: RegExp) =>
  assert.throws(
    () => parseFlags(args),
    (error) => error instanceof StartError && message.test(error.message),
  );

test('no arguments are no flags', () => {
  assert.deepEqual(parseFlags([]), {});
});

test('a value follows its flag or an equals sign', () => {
  assert.deepEqual(parseFlags(['--port', '80', '--host=::1']), { port: '80', host: '::1' });
});

test('only the first equals sign parts the flag from its value', () => {
  assert.deepEqual(parseFlags(['--issuer=a=b=c']), { issuer: 'a=b=c' });
});

test('accepts empty values, values of several lines and values that start with a dash', () => {
  assert.deepEqual(parseFlags(['--issuer=', '--log-level', '']), { issuer: '', 'log-level': '' });
  assert.deepEqual(parseFlags(['--issuer=a\nb']), { issuer: 'a\nb' });
  assert.deepEqual(parseFlags(['--port', '-1']), { port: '-1' });
});

test('a switch needs no value and takes none from the next argument', () => {
  assert.deepEqual(parseFlags(['--demo', '--port', '80']), { demo: 'true', port: '80' });
  assert.deepEqual(parseFlags(['--demo=false']), { demo: 'false' });
  refusedWith(['--demo', 'false'], /^false is not a flag\./);
});

test('of a repeated flag the last one counts', () => {
  assert.deepEqual(parseFlags(['--port', '1', '--port=2']), { port: '2' });
});

test('a flag without its value is refused', () => {
  refusedWith(['--demo', '--port'], /^--port needs a value\.$/);
});

test('an unknown flag is refused with the one that was probably meant', () => {
  refusedWith(['--prot', '80'], /^There is no flag --prot\. Did you mean --port\? .*--help/);
  refusedWith(['--colour-of-the-shed'], /^There is no flag --colour-of-the-shed\. Run espalier serve --help/);
});

test('a password given as a flag is not shown, and the file is proposed', () => {
  for (const args of [['--admin-password=hunter2'], ['--admin-password', 'hunter2']]) {
    refusedWith(args, /^There is no flag --admin-password\. Did you mean --admin-password-file\?/);
  }
});

test('what does not look like a flag is refused', () => {
  for (const argument of ['port', '-p', '--', '--=80', '', '-port=80', '--PORT=80']) {
    refusedWith([argument], /is not a flag\.|^There is no flag/);
  }
});

test('a name that every object has is not a flag', () => {
  for (const argument of ['--constructor=x', '--__proto__=x', '--toString']) {
    refusedWith([argument], /^There is no flag/);
  }
});

test('every setting has a flag of its own, and it is understood', () => {
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

test('a secret has no flag but that of its file', () => {
  assert.deepEqual(flagsOf(settingsTable.adminPassword), ['admin-password-file']);
  refusedWith(['--admin-password', 'x'], /^There is no flag --admin-password\./);
});
