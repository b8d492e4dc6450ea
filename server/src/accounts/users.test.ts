import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Refusal } from '../refusal.ts';
import { accountNameKey, requireAccountName, searchPattern, toAccountName } from './users.ts';

test('accepts names of 1 to 128 code points', () => {
  for (const name of ['a', ' ', 'Zoë', 'משה', '山田 太郎', 'x'.repeat(128), '🌳'.repeat(128)]) {
    assert.equal(toAccountName(name), name);
  }
  for (const name of ['', 'x'.repeat(129), '🌳'.repeat(129)]) assert.equal(toAccountName(name), undefined);
});

test('rejects names with control characters or ill-formed Unicode', () => {
  for (const name of ['a\nb', '\0', 'a\u007f', '\u0085', '\ud800', 'a\udc00b']) {
    assert.equal(toAccountName(name), undefined, JSON.stringify(name));
  }
});

test('returns names with composed letters (NFC)', () => {
  assert.equal(toAccountName('Zoe\u0308'), 'Zo\u00eb');
  assert.equal(toAccountName('e\u0301'.repeat(128)), '\u00e9'.repeat(128));
});

test('gives names that differ only in case the same key', () => {
  assert.equal(accountNameKey('ADMIN'), accountNameKey('Admin'));
  assert.equal(accountNameKey('ÅSA'), accountNameKey('åsa'));
  assert.notEqual(accountNameKey('Åsa'), accountNameKey('Asa'));
});

test('rejects an invalid name with the rules for names', () => {
  assert.equal(requireAccountName('Anna', 'user name'), 'Anna');
  assert.throws(
    () => requireAccountName('\u0007', 'group name'),
    (error) =>
      error instanceof Refusal &&
      error.code === 'BAD_INPUT' &&
      /A group name must have 1 to 128/.test(error.message),
  );
});

test('creates a search pattern in lower case with escaped wildcards', () => {
  assert.equal(searchPattern('Jo'), '%jo%');
  assert.equal(searchPattern('100%_!'), '%100!%!_!!%');
  for (const nothing of [undefined, null, '']) assert.equal(searchPattern(nothing), '%');
  for (const never of ['\0', '\ud800', 'x'.repeat(129)]) assert.equal(searchPattern(never), undefined);
});
