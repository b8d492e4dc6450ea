import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { EspalierError } from '@espalier/client';
import { StandingVersions, takeBack } from './undo-steps.ts';
import type { AnyTask, UndoStep } from './task.ts';

const action = { label: 'Change folder', document: 'mutation { x }' };

function conflict(message: string, facts: object): EspalierError {
  const errors = [{ message, extensions: { code: 'CONFLICT', ...facts } }];
  return new EspalierError('CONFLICT', message, { errors });
}

/** Takes steps back of which some are refused; answers with what was done and told. */
async function outcome(steps: readonly UndoStep[], refusals: Readonly<Record<string, Error>> = {}) {
  const done: string[] = [];
  const failure = await takeBack(steps, ({ variables }: AnyTask) => {
    const { id } = variables as { id: string };
    const refusal = refusals[id];
    if (refusal) return Promise.reject(refusal);
    done.push(id);
    return Promise.resolve({});
  });
  return { done, told: failure ? [failure.problem] : [] };
}

const step = (id: string, more: Partial<UndoStep> = {}): UndoStep => ({
  subject: `“${id}”`,
  task: () => ({ action, variables: { id } }),
  ...more,
});

describe('taking back', () => {
  test('does one step after the other', async () => {
    assert.deepEqual(await outcome([step('a'), step('b')]), { done: ['a', 'b'], told: [] });
  });

  test('leaves what was changed since, and tells so', async () => {
    const refusal = conflict('The folder has been changed meanwhile: it is at version 4, not 3.', {
      version: 4,
    });
    assert.deepEqual(await outcome([step('a'), step('b')], { a: refusal }), {
      done: [],
      told: ['You or somebody else has changed “a” since. Nothing was taken back.'],
    });
    assert.deepEqual(await outcome([step('a'), step('b'), step('c')], { b: refusal }), {
      done: ['a'],
      told: ['You or somebody else has changed “b” since. 1 of 3 were taken back.'],
    });
  });

  test('tells the reason of another conflict', async () => {
    const refusal = conflict('The name "Pots" is not free in that folder.', {});
    const { told } = await outcome([step('a')], { a: refusal });
    assert.deepEqual(told, [
      'Change folder: The name "Pots" is not free in that folder. Nothing was taken back.',
    ]);
    const own = await outcome([step('a', { conflictText: '“a” has folders inside by now.' })], {
      a: refusal,
    });
    assert.deepEqual(own.told, ['“a” has folders inside by now. Nothing was taken back.']);
  });

  test('looks first where the server cannot compare', async () => {
    const isUnchanged = () => Promise.resolve(false);
    assert.deepEqual(await outcome([step('a', { isUnchanged })]), {
      done: [],
      told: ['You or somebody else has changed “a” since. Nothing was taken back.'],
    });
    const left = await outcome([step('a', { isUnchanged: () => Promise.resolve(true) })]);
    assert.deepEqual(left.done, ['a']);
  });
});

test('what passes by itself can be tried again, from the step that failed', async () => {
  const away = new EspalierError('UNREACHABLE', 'Away.');
  const steps = [step('a'), step('b'), step('c')];
  const left = async (refusal: Error) =>
    (await takeBack(steps, ({ variables }: AnyTask) =>
      (variables as { id: string }).id === 'b' ? Promise.reject(refusal) : Promise.resolve({}),
    ))!.left;
  assert.deepEqual(await left(away), steps.slice(1));
  assert.deepEqual(await left(conflict('The name is not free.', {})), []);
});

describe('versions that stand for earlier ones', () => {
  test('let changes be taken back one after the other', () => {
    const versions = new StandingVersions();
    // Made 2 and 3; 3 is taken back by 4, then 2 by 5.
    versions.note('a', 2, 4);
    assert.equal(versions.now('a', 2), 4);
    versions.note('a', 1, 5);
    assert.equal(versions.now('a', 1), 5);
    assert.equal(versions.now('a', 3), 3, 'somebody has changed it since');
    assert.equal(versions.now('b', 2), 2);
  });

  test('are followed as often as something was taken back', () => {
    const versions = new StandingVersions();
    versions.note('a', 1, 3);
    versions.note('a', 3, 5);
    assert.equal(versions.now('a', 1), 5);
    versions.note('a', 5, 5);
    assert.equal(versions.now('a', 5), 5);
  });
});
