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

test('a password has 8 to 128 characters, counted as code points of the composed form', async () => {
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

test('any kind of character will do, and none is asked for', async () => {
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

test('ill-formed Unicode is refused: it could not be typed again', () =>
  refuses('walnut72\ud800', /well-formed/));

test('common passwords are refused in any case', async () => {
  for (const password of ['password', 'PassWord', '12345678', 'qwertyuiop', 'trustno1', 'Baseball']) {
    await refuses(password, /most common/);
  }
});

test('letters and digits over and over or in a row are refused as well, unless they are many', async () => {
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

test('the list of common passwords is ordered, in lower case, and has more than 10,000 that are long enough', async () => {
  const listed = dictionary['passwords-common'].filter(({ length }) => length >= 8);
  assert.deepEqual(listed.slice(0, 4), ['password', '12345678', '123456789', 'baseball']);
  assert.ok(listed.every((password) => password === password.toLowerCase()));
  await refuses(listed[9_999]!, /most common/);
  await requireGoodPassword(listed[10_000]!, 'anna');
});

test('a password that is the user name is refused, in any case and however it is composed', async () => {
  await refuses('Annabelle', /user name/, 'annabelle');
  await refuses('Zoe\u0308-and-Max', /user name/, 'zo\u00eb-AND-max');
  await requireGoodPassword('annabelle2', 'annabelle');
});

test('no refusal repeats the password', () =>
  fc.assert(
    fc.asyncProperty(fc.string({ minLength: 4, unit: 'binary' }), async (password) => {
      await requireGoodPassword(password, 'anna').catch((error: unknown) => {
        assert.ok(!String(error).includes(password));
      });
    }),
  ));
