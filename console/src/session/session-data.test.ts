import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clearUserData, onSignOut, listUnsaved, whileSignedIn } from './session-data.ts';

describe('leaving', () => {
  test('what somebody waits for is told to them, and to nobody after them', async () => {
    assert.equal(await whileSignedIn(Promise.resolve('theirs')), 'theirs');
    await assert.rejects(whileSignedIn(Promise.reject(new Error('refused'))), /refused/);
    const told: unknown[] = [];
    const note = (value: unknown) => told.push(value);
    void whileSignedIn(Promise.resolve('late')).then(note, note);
    void whileSignedIn(Promise.reject(new Error('late'))).then(note, note);
    clearUserData();
    await new Promise(setImmediate);
    assert.deepEqual(told, []);
  });

  test('names what is not saved, for as long as it is kept', () => {
    const stop = onSignOut(
      () => undefined,
      () => ['Seeds'],
    );
    assert.deepEqual(listUnsaved(), ['Seeds']);
    stop();
    assert.deepEqual(listUnsaved(), []);
  });
});
