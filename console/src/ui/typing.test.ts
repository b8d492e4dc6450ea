import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isComposing } from './typing.ts';

test('recognizes the keys of an input method, including the final Enter in Safari', () => {
  const press = (composing: boolean, keyCode: number) =>
    isComposing({ nativeEvent: { isComposing: composing, keyCode } });
  assert.equal(press(true, 13), true);
  assert.equal(press(false, 229), true);
  assert.equal(press(false, 13), false);
});
