import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nearestName } from './nearest-name.ts';

const names = ['host', 'port', 'base-path', 'auth-token-seconds', 'refresh-token-seconds'];

test('finds a name with an extra, missing, wrong or swapped letter', () => {
  for (const typed of ['portt', 'prt', 'pork', 'prot']) assert.equal(nearestName(typed, names), 'port');
});

test('prefers the most similar name', () => {
  assert.equal(nearestName('aut-token-seconds', names), 'auth-token-seconds');
  assert.equal(nearestName('refresh-token-second', names), 'refresh-token-seconds');
});

test('prefers the first of equally similar names', () => {
  assert.equal(nearestName('most', ['cost', 'lost']), 'cost');
});

test('accepts three wrong letters in a long name only', () => {
  assert.equal(nearestName('refresh-token-secs', names), 'refresh-token-seconds');
  assert.equal(nearestName('po', ['ports']), undefined);
});

test('returns undefined if no name is similar', () => {
  assert.equal(nearestName('color', names), undefined);
  assert.equal(nearestName('', names), undefined);
});

test('returns undefined without names', () => {
  assert.equal(nearestName('port', []), undefined);
});

test('finds an exact name', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string(), { minLength: 1 }), fc.nat(), (names, index) => {
      const name = names[index % names.length]!;
      assert.equal(nearestName(name, names), name);
    }),
  );
});

test('accepts one edit anywhere in a name of three or more letters', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 3, maxLength: 30 }), fc.nat(), fc.string(), (name, index, letter) => {
      const at = index % name.length;
      const typed = name.slice(0, at) + letter.slice(0, 1) + name.slice(at + 1);
      assert.equal(nearestName(typed, [name]), name);
    }),
  );
});
