import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clearUserData, onSignOut, listUnsaved, whileSignedIn } from './session-data.ts';

describe('user data', () => {
  test('settles a promise only while the same user is signed in', async () => {
    assert.equal(await whileSignedIn(Promise.resolve('theirs')), 'theirs');
    await assert.rejects(whileSignedIn(Promise.reject(new Error('refused'))), /refused/);
    const outcomes: unknown[] = [];
    const note = (value: unknown) => outcomes.push(value);
    void whileSignedIn(Promise.resolve('late')).then(note, note);
    void whileSignedIn(Promise.reject(new Error('late'))).then(note, note);
    clearUserData();
    await new Promise(setImmediate);
    assert.deepEqual(outcomes, []);
  });

  test('lists unsaved data until its registration is removed', () => {
    const stop = onSignOut(
      () => undefined,
      () => ['Seeds'],
    );
    assert.deepEqual(listUnsaved(), ['Seeds']);
    stop();
    assert.deepEqual(listUnsaved(), []);
  });
});
