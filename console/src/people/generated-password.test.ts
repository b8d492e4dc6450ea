import assert from 'node:assert/strict';
import { test } from 'node:test';
import { generatePassword } from './generated-password.ts';

test('generates four groups of five letters and digits, different each time', () => {
  const made = Array.from({ length: 200 }, generatePassword);
  for (const password of made) assert.match(password, /^[a-km-np-z2-9]{5}(?:-[a-km-np-z2-9]{5}){3}$/);
  assert.equal(new Set(made).size, made.length);
});

test('uses all letters about equally often in a thousand passwords', () => {
  const counts = new Map<string, number>();
  for (let round = 0; round < 1000; round++) {
    for (const letter of generatePassword().replaceAll('-', '')) {
      counts.set(letter, (counts.get(letter) ?? 0) + 1);
    }
  }
  assert.equal(counts.size, 32);
  // Each letter is expected 625 times. A fair generator leaves 400 to 850 about once in 10^17 runs.
  for (const [letter, count] of counts) assert.ok(count > 400 && count < 850, `${letter}: ${count}`);
});
