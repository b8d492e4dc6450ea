import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { clearUserData } from '../session/session-data.ts';
import { latestUndoable, toasts, undo, undoLast, type Undo } from './toasts.ts';

const texts = () => toasts.read().map(({ text }) => text);
const addDoneToast = (text: string, undoToast: Undo) => toasts.add({ tone: 'done', text, undo: undoToast });

describe('undo', () => {
  afterEach(() => toasts.clear());

  test('starts only after the previous undo has ended', async () => {
    const steps: string[] = [];
    const releases: (() => void)[] = [];
    const createSlowUndo =
      (name: string): Undo =>
      async () => {
        steps.push(`${name} begins`);
        await new Promise<void>((resolve) => releases.push(resolve));
        steps.push(`${name} ends`);
        return undefined;
      };
    addDoneToast('a', createSlowUndo('a'));
    addDoneToast('b', createSlowUndo('b'));
    undoLast();
    const secondUndo = undo(latestUndoable()!);
    await new Promise(setImmediate);
    assert.deepEqual(steps, ['b begins']);
    releases.shift()!();
    await new Promise(setImmediate);
    releases.shift()!();
    await secondUndo;
    assert.deepEqual(steps, ['b begins', 'b ends', 'a begins', 'a ends']);
    assert.deepEqual(texts(), ['Undone: b', 'Undone: a']);
  });

  test('can be retried after a failure', async () => {
    const retry: Undo = () => Promise.resolve(undefined);
    addDoneToast('Moved “Seeds”', () => Promise.resolve({ problem: 'Not reachable.', retry }));
    await undo(latestUndoable()!);
    assert.deepEqual(texts(), ['Not reachable.']);
    await undo(latestUndoable()!);
    assert.deepEqual(texts(), ['Undone: Moved “Seeds”']);
    assert.equal(latestUndoable(), undefined);
  });

  test('is not available to the next user', () => {
    addDoneToast('a', () => Promise.resolve(undefined));
    clearUserData();
    assert.deepEqual(texts(), []);
    assert.equal(latestUndoable(), undefined);
  });
});
