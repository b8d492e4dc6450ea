/** Runs the steps that undo an action. Stops with a message if the changed item has changed again, so that no later change is lost. */

import { EspalierError } from '@espalier/client';
import { isTransient, describeProblem } from '../graph/problem.ts';
import type { AnyTask, UndoStep } from './task.ts';

interface UndoFailure {
  readonly problem: string;
  /** The steps to retry. Empty if a retry cannot help. */
  readonly remainingSteps: readonly UndoStep[];
}

/** Runs the steps in order until one fails. Returns undefined on success. */
export async function runUndoSteps(
  steps: readonly UndoStep[],
  perform: (task: AnyTask) => Promise<unknown>,
): Promise<UndoFailure | undefined> {
  for (const [index, { subject, task, conflictText, isUnchanged, onDone }] of steps.entries()) {
    const undoTask = task();
    const progressText =
      index === 0 ? 'Nothing was undone.' : `${index} of ${steps.length} steps were undone.`;
    const changedText = `Cannot undo, because ${subject} has changed since then. ${progressText}`;
    try {
      if (isUnchanged && !(await isUnchanged())) return { problem: changedText, remainingSteps: [] };
      const result = await perform(undoTask);
      onDone?.(result);
    } catch (error) {
      const { code, text } = describeProblem(error);
      const reason = (code === 'CONFLICT' && conflictText) || `${undoTask.action.label}: ${text}`;
      return {
        problem: isVersionConflict(error) ? changedText : `${reason} ${progressText}`,
        remainingSteps: isTransient(error) ? steps.slice(index) : [],
      };
    }
  }
  return undefined;
}

/** A duplicate name is also a conflict, but its error has no version. */
function isVersionConflict(error: unknown): boolean {
  if (!(error instanceof EspalierError) || error.code !== 'CONFLICT') return false;
  return (error.errors ?? []).some(({ extensions }) => typeof extensions?.['version'] === 'number');
}

/**
 * Maps versions to later versions with the same content. An undo creates a new version with the content of an earlier version.
 * With this map, several changes can be undone in sequence, the latest first.
 */
export class EquivalentVersions {
  readonly #laterVersions = new Map<string, number>();

  /** Returns the current version of a folder whose changes since `version` were all undone. */
  resolve(id: string, version: number): number {
    let latest = version;
    for (
      let next = this.#laterVersions.get(`${id} ${latest}`);
      next !== undefined;
      next = this.#laterVersions.get(`${id} ${latest}`)
    )
      latest = next;
    return latest;
  }

  /** Records that version `undone` has the content of version `before`. */
  record(id: string, before: number, undone: number): void {
    if (undone > before) this.#laterVersions.set(`${id} ${before}`, undone);
  }
}

/** The versions of folders changed on this page. */
export const folderVersions = new EquivalentVersions();
