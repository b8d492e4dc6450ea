/** Performs the same action on several items, one after the other. An item that fails does not stop the rest. */

import { describeProblem, isTransient } from '../graph/problem.ts';
import { perform, reportDone } from './perform.ts';
import type { Task, UndoStep } from './task.ts';

interface DoneItem<Item, Result> {
  readonly item: Item;
  readonly result: Result;
}

export interface BulkAction<Item, Variables extends object = object, Result = unknown> {
  readonly taskOf: (item: Item) => Omit<Task<Variables, Result>, 'doneText'>;
  /** The message about the items that succeeded. */
  readonly doneText: (done: readonly DoneItem<Item, Result>[]) => string;
}

export interface BulkOutcome<Item> {
  readonly failures: readonly { readonly item: Item; readonly text: string }[];
  /** The items that were not tried, because the user stopped or the connection was lost. */
  readonly untriedItems: readonly Item[];
}

interface BulkOptions {
  readonly onProgress?: (doneCount: number) => void;
  /** Stops before the next item. */
  readonly signal?: AbortSignal;
}

/** A single undo reverses the action on all items that succeeded. */
export async function performEach<Item, Variables extends object, Result>(
  items: readonly Item[],
  { taskOf, doneText }: BulkAction<Item, Variables, Result>,
  { onProgress, signal }: BulkOptions = {},
): Promise<BulkOutcome<Item>> {
  const done: DoneItem<Item, Result>[] = [];
  const failures: BulkOutcome<Item>['failures'][number][] = [];
  const undoSteps: UndoStep[] = [];
  let triedCount = 0;
  for (const item of items) {
    if (signal?.aborted) break;
    triedCount++;
    const task = taskOf(item);
    try {
      const result = await perform(task);
      done.push({ item, result });
      undoSteps.unshift(...(task.undoSteps?.(result) ?? []));
    } catch (error) {
      failures.push({ item, text: describeProblem(error).text });
      if (isTransient(error)) break;
    }
    onProgress?.(triedCount);
  }
  if (done.length > 0) {
    reportDone(doneText(done), undoSteps, items.length === 1 ? taskOf(items[0]!) : undefined);
  }
  return { failures, untriedItems: items.slice(triedCount) };
}
