import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { clearUserData, onSignOut, listUnsaved, whileSignedIn } from './session-data.ts';

describe('session data', () => {
  test('whileSignedIn() settles only while the same user is signed in', async () => {
    assert.equal(await whileSignedIn(Promise.resolve('own data')), 'own data');
    await assert.rejects(whileSignedIn(Promise.reject(new Error('refused'))), /refused/);
    const outcomes: unknown[] = [];
    const note = (value: unknown) => outcomes.push(value);
    void whileSignedIn(Promise.resolve('late')).then(note, note);
    void whileSignedIn(Promise.reject(new Error('late'))).then(note, note);
    clearUserData();
    await new Promise(setImmediate);
    assert.deepEqual(outcomes, []);
  });

  test('listUnsaved() lists data until its registration is removed', () => {
    const stop = onSignOut(
      () => undefined,
      () => ['Seeds'],
    );
    assert.deepEqual(listUnsaved(), ['Seeds']);
    stop();
    assert.deepEqual(listUnsaved(), []);
  });
});
