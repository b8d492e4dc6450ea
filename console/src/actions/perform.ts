/** Performs actions: shows the expected result immediately, and rolls it back if the server rejects the action. */

import { describeProblem } from '../graph/problem.ts';
import { queries } from '../graph/use-graph.ts';
import { client } from '../session/client.ts';
import { whileSignedIn } from '../session/session-data.ts';
import type { Call } from './action.ts';
import { runUndoSteps } from './undo-steps.ts';
import type { UndoStep, Task } from './task.ts';
import { toasts, type Undo } from './toasts.ts';

/** Rejects with the server's error, after the rollback. */
export async function perform<Variables extends object, Result>(
  task: Task<Variables, Result>,
): Promise<Result> {
  const { action, variables, doneText, undoSteps, staleQueries = [], optimisticUpdate } = task;
  const rollback = optimisticUpdate?.();
  let result: Result;
  try {
    result = await whileSignedIn(client.mutate<Result>(action.document, variables));
  } catch (error) {
    rollback?.();
    throw error;
  } finally {
    for (const queryKey of staleQueries) void queries.invalidateQueries({ queryKey });
  }
  if (doneText !== undefined) {
    const text = typeof doneText === 'string' ? doneText : doneText(result);
    reportDone(text, undoSteps?.(result) ?? [], { action, variables });
  }
  return result;
}

/** Like `perform`, but reports an error as a toast and returns undefined. */
export async function performOrReport<Variables extends object, Result>(
  task: Task<Variables, Result>,
): Promise<Result | undefined> {
  try {
    return await perform(task);
  } catch (error) {
    reportFailure(`${task.action.label}: ${describeProblem(error).text}`);
    return undefined;
  }
}

/** Shows a toast, with Undo if there are undo steps and with "copy as" if there is a call. */
export function reportDone(text: string, undoSteps: readonly UndoStep[], call?: Call): void {
  toasts.add({ tone: 'done', text, call, undo: undoSteps.length > 0 ? createUndo(undoSteps) : undefined });
}

/** Makes an action undoable without a toast, because a dialog reports the action. */
export function rememberDone(text: string, undoSteps: readonly UndoStep[]): void {
  if (undoSteps.length > 0) toasts.addHidden({ tone: 'done', text, undo: createUndo(undoSteps) });
}

export function reportFailure(text: string): void {
  toasts.add({ tone: 'failure', text });
}

function createUndo(steps: readonly UndoStep[]): Undo {
  return async () => {
    const failure = await runUndoSteps(steps, perform);
    if (!failure) return undefined;
    const { problem, remainingSteps } = failure;
    return { problem, retry: remainingSteps.length > 0 ? createUndo(remainingSteps) : undefined };
  };
}
