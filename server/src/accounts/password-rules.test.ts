import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dictionary } from '@zxcvbn-ts/language-common';
import fc from 'fast-check';
import { Refusal } from '../refusal.ts';
import { requireGoodPassword } from './passwords.ts';

const refuses = (password: string, expected: RegExp, username = 'anna') =>
  assert.rejects(requireGoodPassword(password, username), (error) => {
    assert.ok(error instanceof Refusal);
    assert.equal(error.code, 'BAD_INPUT');
    assert.match(error.message, expected);
    return true;
  });

test('requires 8 to 128 code points in NFC', async () => {
  const good = [
    'walnut72',
    'x'.repeat(128),
    '🌳🌲🌴🌵🌾🌿🍀🍁',
    '🌳'.repeat(128),
    'é'.repeat(8),
    'e\u0301'.repeat(128),
  ];
  for (const password of good) await requireGoodPassword(password, 'anna');
  for (const password of ['', 'walnut7', 'x'.repeat(129), '🌳'.repeat(7), 'e\u0301'.repeat(7)]) {
    await refuses(password, /8 to 128 characters/);
  }
});

test('accepts any kind of character and requires none', async () => {
  for (const password of [
    'aaaaaaab',
    '        ',
    'ключ от дома',
    '\0\0\0\0\0\0\0\0',
    '72946150382',
    '木木木木木木木木',
  ]) {
    await requireGoodPassword(password, 'anna');
  }
});

test('rejects ill-formed Unicode, which cannot be typed again', () =>
  refuses('walnut72\ud800', /well-formed/));

test('rejects common passwords in any case', async () => {
  for (const password of ['password', 'PassWord', '12345678', 'qwertyuiop', 'trustno1', 'Baseball']) {
    await refuses(password, /most common/);
  }
});

test('rejects short repeated or consecutive letters and digits', async () => {
  for (const password of [
    '00000000',
    'AAAAAAAA',
    '12341234',
    '121212121212',
    'abcdefgh',
    '87654321',
    'xyzxyzxyz',
  ]) {
    await refuses(password, /most common/);
  }
  for (const password of ['aaaaaaaaaaaaa', 'abcdefgj', '12341235', 'acegikmo']) {
    await requireGoodPassword(password, 'anna');
  }
});

test('uses a sorted lower-case list with more than 10,000 passwords of the minimum length', async () => {
  const listed = dictionary['passwords-common'].filter(({ length }) => length >= 8);
  assert.deepEqual(listed.slice(0, 4), ['password', '12345678', '123456789', 'baseball']);
  assert.ok(listed.every((password) => password === password.toLowerCase()));
  await refuses(listed[9_999]!, /most common/);
  await requireGoodPassword(listed[10_000]!, 'anna');
});

test('rejects the user name as a password, in any case and composition', async () => {
  await refuses('Annabelle', /user name/, 'annabelle');
  await refuses('Zoe\u0308-and-Max', /user name/, 'zo\u00eb-AND-max');
  await requireGoodPassword('annabelle2', 'annabelle');
});

test('never repeats the password in the error', () =>
  fc.assert(
    fc.asyncProperty(fc.string({ minLength: 4, unit: 'binary' }), async (password) => {
      await requireGoodPassword(password, 'anna').catch((error: unknown) => {
        assert.ok(!String(error).includes(password));
      });
    }),
  ));
