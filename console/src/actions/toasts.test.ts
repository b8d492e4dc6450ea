import assert from 'node:assert/strict';
import { afterEach, describe, test } from 'node:test';
import { clearUserData } from '../session/session-data.ts';
import { lastUndoable, toasts, undo, undoLast, type Undo } from './toasts.ts';

const texts = () => toasts.read().map(({ text }) => text);
const done = (text: string, take: Undo) => toasts.add({ tone: 'done', text, undo: take });

describe('undo', () => {
  afterEach(() => toasts.clear());

  test('runs one after the other, the latest first', async () => {
    const steps: string[] = [];
    const release: (() => void)[] = [];
    const slowly =
      (name: string): Undo =>
      async () => {
        steps.push(`${name} begins`);
        await new Promise<void>((resolve) => release.push(resolve));
        steps.push(`${name} ends`);
        return undefined;
      };
    done('a', slowly('a'));
    done('b', slowly('b'));
    undoLast();
    const last = undo(lastUndoable()!);
    await new Promise(setImmediate);
    assert.deepEqual(steps, ['b begins']);
    release.shift()!();
    await new Promise(setImmediate);
    release.shift()!();
    await last;
    assert.deepEqual(steps, ['b begins', 'b ends', 'a begins', 'a ends']);
    assert.deepEqual(texts(), ['Undone: b', 'Undone: a']);
  });

  test('can be retried, and then names the undone action', async () => {
    const retry: Undo = () => Promise.resolve(undefined);
    done('Moved “Seeds”', () => Promise.resolve({ problem: 'Not reachable.', retry }));
    await undo(lastUndoable()!);
    assert.deepEqual(texts(), ['Not reachable.']);
    await undo(lastUndoable()!);
    assert.deepEqual(texts(), ['Undone: Moved “Seeds”']);
    assert.equal(lastUndoable(), undefined);
  });

  test('is not available to the next user', () => {
    done('a', () => Promise.resolve(undefined));
    clearUserData();
    assert.deepEqual(texts(), []);
    assert.equal(lastUndoable(), undefined);
  });
});
