import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EspalierError } from '@espalier/client';
import { EquivalentVersions, runUndoSteps } from './undo-steps.ts';
import type { AnyTask, UndoStep } from './task.ts';

const action = { label: 'Change folder', document: 'mutation { x }' };

function conflict(message: string, facts: object): EspalierError {
  const errors = [{ message, extensions: { code: 'CONFLICT', ...facts } }];
  return new EspalierError('CONFLICT', message, { errors });
}

/** Runs undo steps with failures for some ids. Returns the completed ids and the reported problems. */
async function runSteps(steps: readonly UndoStep[], refusals: Readonly<Record<string, Error>> = {}) {
  const done: string[] = [];
  const failure = await runUndoSteps(steps, ({ variables }: AnyTask) => {
    const { id } = variables as { id: string };
    const refusal = refusals[id];
    if (refusal) return Promise.reject(refusal);
    done.push(id);
    return Promise.resolve({});
  });
  return { done, problems: failure ? [failure.problem] : [] };
}

const step = (id: string, more: Partial<UndoStep> = {}): UndoStep => ({
  subject: `“${id}”`,
  task: () => ({ action, variables: { id } }),
  ...more,
});

describe('runUndoSteps()', () => {
  test('runs the steps in order', async () => {
    assert.deepEqual(await runSteps([step('a'), step('b')]), { done: ['a', 'b'], problems: [] });
  });

  test('stops with a message at a folder that was changed later', async () => {
    const refusal = conflict(
      'The folder has changed since you read it: its version is 4, not 3. Read it again.',
      {
        version: 4,
      },
    );
    assert.deepEqual(await runSteps([step('a'), step('b')], { a: refusal }), {
      done: [],
      problems: ['Cannot undo, because “a” has changed since then. Nothing was undone.'],
    });
    assert.deepEqual(await runSteps([step('a'), step('b'), step('c')], { b: refusal }), {
      done: ['a'],
      problems: ['Cannot undo, because “b” has changed since then. 1 of 3 steps were undone.'],
    });
  });

  test('reports the reason for other conflicts', async () => {
    const refusal = conflict('The name "Pots" is already in use in that folder.', {});
    const { problems } = await runSteps([step('a')], { a: refusal });
    assert.deepEqual(problems, [
      'Change folder: The name “Pots” is already in use in that folder. Nothing was undone.',
    ]);
    const withConflictText = await runSteps([step('a', { conflictText: '“a” now contains folders.' })], {
      a: refusal,
    });
    assert.deepEqual(withConflictText.problems, ['“a” now contains folders. Nothing was undone.']);
  });

  test('calls isUnchanged() first if a step has it', async () => {
    const isUnchanged = () => Promise.resolve(false);
    assert.deepEqual(await runSteps([step('a', { isUnchanged })]), {
      done: [],
      problems: ['Cannot undo, because “a” has changed since then. Nothing was undone.'],
    });
    const unchanged = await runSteps([step('a', { isUnchanged: () => Promise.resolve(true) })]);
    assert.deepEqual(unchanged.done, ['a']);
  });
});

test('returns the steps to retry after a transient error', async () => {
  const unreachable = new EspalierError('UNREACHABLE', 'Away.');
  const steps = [step('a'), step('b'), step('c')];
  const remainingAfter = async (refusal: Error) =>
    (await runUndoSteps(steps, ({ variables }: AnyTask) =>
      (variables as { id: string }).id === 'b' ? Promise.reject(refusal) : Promise.resolve({}),
    ))!.remainingSteps;
  assert.deepEqual(await remainingAfter(unreachable), steps.slice(1));
  assert.deepEqual(await remainingAfter(conflict('The name is not free.', {})), []);
});

describe('EquivalentVersions', () => {
  test('returns the latest version with the content of an earlier version', () => {
    const versions = new EquivalentVersions();
    // The changes created versions 2 and 3. Version 4 undoes 3, then version 5 undoes 2.
    versions.record('a', 2, 4);
    assert.equal(versions.resolve('a', 2), 4);
    versions.record('a', 1, 5);
    assert.equal(versions.resolve('a', 1), 5);
    assert.equal(versions.resolve('a', 3), 3, 'another change was made since');
    assert.equal(versions.resolve('b', 2), 2);
  });

  test('follows a chain of versions', () => {
    const versions = new EquivalentVersions();
    versions.record('a', 1, 3);
    versions.record('a', 3, 5);
    assert.equal(versions.resolve('a', 1), 5);
    versions.record('a', 5, 5);
    assert.equal(versions.resolve('a', 5), 5);
  });
});
