import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isComposing } from './typing.ts';

test('a key of an input method is told from one of the field, also the last one in Safari', () => {
  const press = (composing: boolean, keyCode: number) =>
    isComposing({ nativeEvent: { isComposing: composing, keyCode } });
  assert.equal(press(true, 13), true);
  assert.equal(press(false, 229), true);
  assert.equal(press(false, 13), false);
});
