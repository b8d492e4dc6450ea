import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '../refusal.ts';
import { accountNameKey, requireAccountName, searchPattern, toAccountName } from './account-name.ts';

test('a name has 1 to 128 characters, counted as code points', () => {
  for (const name of ['a', ' ', 'Zoë', 'משה', '山田 太郎', 'x'.repeat(128), '🌳'.repeat(128)]) {
    assert.equal(toAccountName(name), name);
  }
  for (const name of ['', 'x'.repeat(129), '🌳'.repeat(129)]) assert.equal(toAccountName(name), undefined);
});

test('control characters and ill-formed Unicode are in no name', () => {
  for (const name of ['a\nb', '\0', 'a\u007f', '\u0085', '\ud800', 'a\udc00b']) {
    assert.equal(toAccountName(name), undefined, JSON.stringify(name));
  }
});

test('the same letters are the same name, however they are composed', () => {
  assert.equal(toAccountName('Zoe\u0308'), 'Zo\u00eb');
  assert.equal(toAccountName('e\u0301'.repeat(128)), '\u00e9'.repeat(128));
});

test('names that differ only in case have the same key', () => {
  assert.equal(accountNameKey('ADMIN'), accountNameKey('Admin'));
  assert.equal(accountNameKey('ÅSA'), accountNameKey('åsa'));
  assert.notEqual(accountNameKey('Åsa'), accountNameKey('Asa'));
});

test('a name that cannot be is refused, and the refusal says what can', () => {
  assert.equal(requireAccountName('Anna', 'user name'), 'Anna');
  assert.throws(
    () => requireAccountName('\u0007', 'group name'),
    (error) =>
      error instanceof Refusal &&
      error.code === 'BAD_INPUT' &&
      /A group name has 1 to 128/.test(error.message),
  );
});

test('a search takes signs of the pattern language as they are, and any case', () => {
  assert.equal(searchPattern('Jo'), '%jo%');
  assert.equal(searchPattern('100%_!'), '%100!%!_!!%');
  for (const nothing of [undefined, null, '']) assert.equal(searchPattern(nothing), '%');
  for (const never of ['\0', '\ud800', 'x'.repeat(129)]) assert.equal(searchPattern(never), undefined);
});
