/** Doing an action: what it will become is shown at once, and is taken back if the server refuses. */

import { describeProblem } from '../graph/problem.ts';
import { queries } from '../graph/use-graph.ts';
import { client } from '../session/client.ts';
import { whileSignedIn } from '../session/session-data.ts';
import type { Call } from './action.ts';
import { takeBack } from './undo-steps.ts';
import type { UndoStep, Task } from './task.ts';
import { toasts, type Undo } from './toasts.ts';

/** Rejects with the server's refusal, after what was foreseen has been taken back. */
export async function perform<Variables extends object, Result>(
  task: Task<Variables, Result>,
): Promise<Result> {
  const { action, variables, doneText, undoSteps, staleQueries = [], optimisticUpdate } = task;
  const takeAway = optimisticUpdate?.();
  let result: Result;
  try {
    result = await whileSignedIn(client.mutate<Result>(action.document, variables));
  } catch (error) {
    takeAway?.();
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

/** As `perform`, for what has no place of its own to tell a refusal: undefined then. */
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

/** With Undo, if there are steps back; with "copy as", if there is one call for it. */
export function reportDone(text: string, back: readonly UndoStep[], call?: Call): void {
  toasts.add({ tone: 'done', text, call, undo: back.length > 0 ? undoOf(back) : undefined });
}

export function reportFailure(text: string): void {
  toasts.add({ tone: 'failure', text });
}

function undoOf(steps: readonly UndoStep[]): Undo {
  return async () => {
    const failure = await takeBack(steps, perform);
    if (!failure) return undefined;
    const { problem, left } = failure;
    return { problem, again: left.length > 0 ? undoOf(left) : undefined };
  };
}
