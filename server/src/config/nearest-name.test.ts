import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nearestName } from './nearest-name.ts';

const known = ['host', 'port', 'base-path', 'access-token-seconds', 'refresh-token-seconds'];

test('a letter too many, too few, wrong or swapped still finds the name', () => {
  for (const typed of ['portt', 'prt', 'pork', 'prot']) assert.equal(nearestName(typed, known), 'port');
});

test('of several near names the nearest is meant', () => {
  assert.equal(nearestName('acess-token-seconds', known), 'access-token-seconds');
  assert.equal(nearestName('refresh-token-second', known), 'refresh-token-seconds');
});

test('of equally near names the first is meant', () => {
  assert.equal(nearestName('most', ['cost', 'lost']), 'cost');
});

test('three wrong letters are forgiven in a long name and not in a short one', () => {
  assert.equal(nearestName('refresh-token-secs', known), 'refresh-token-seconds');
  assert.equal(nearestName('po', ['ports']), undefined);
});

test('a name that resembles nothing is not guessed at', () => {
  assert.equal(nearestName('colour', known), undefined);
  assert.equal(nearestName('', known), undefined);
});

test('nothing is meant when nothing is known', () => {
  assert.equal(nearestName('port', []), undefined);
});

test('a known name is always found as itself', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.string(), { minLength: 1 }), fc.nat(), (names, place) => {
      const name = names[place % names.length]!;
      assert.equal(nearestName(name, names), name);
    }),
  );
});

test('one edit anywhere in a name of three letters or more is forgiven', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 3, maxLength: 30 }), fc.nat(), fc.string(), (name, place, letter) => {
      const at = place % name.length;
      const typed = name.slice(0, at) + letter.slice(0, 1) + name.slice(at + 1);
      assert.equal(nearestName(typed, [name]), name);
    }),
  );
});
