import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { forgetAll, onLeave, unsavedNames, whileHere } from './session-data.ts';

describe('leaving', () => {
  test('what somebody waits for is told to them, and to nobody after them', async () => {
    assert.equal(await whileHere(Promise.resolve('theirs')), 'theirs');
    await assert.rejects(whileHere(Promise.reject(new Error('refused'))), /refused/);
    const told: unknown[] = [];
    const note = (value: unknown) => told.push(value);
    void whileHere(Promise.resolve('late')).then(note, note);
    void whileHere(Promise.reject(new Error('late'))).then(note, note);
    forgetAll();
    await new Promise(setImmediate);
    assert.deepEqual(told, []);
  });

  test('names what is not saved, for as long as it is kept', () => {
    const stop = onLeave(
      () => undefined,
      () => ['Seeds'],
    );
    assert.deepEqual(unsavedNames(), ['Seeds']);
    stop();
    assert.deepEqual(unsavedNames(), []);
  });
});
