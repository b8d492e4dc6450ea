/** A call with its message, its optimistic update and its undo. */

import type { GraphQueryKey } from '../graph/use-graph.ts';
import type { Call } from './action.ts';

export interface Task<Variables extends object, Result> extends Call<Variables, Result> {
  /** The message on success. Without a message, no toast appears. */
  readonly doneText?: string | ((result: Result) => string);
  /** The steps that undo the task, in order. Empty if the task cannot be undone. */
  readonly undoSteps?: (result: Result) => readonly UndoStep[];
  /** The queries to read again, on success and on failure. */
  readonly staleQueries?: readonly GraphQueryKey[];
  /** Shows the result before the response. Returns the rollback. */
  readonly optimisticUpdate?: () => () => void;
}

// oxlint-disable-next-line typescript/no-explicit-any -- Tasks of any kind in one list.
export type AnyTask = Task<any, any>;

export interface UndoStep {
  /** The name of the changed item in messages, for example `“Seeds”`. */
  readonly subject: string;
  /** Creates the task when the step runs, because earlier steps may have created newer versions. */
  readonly task: () => AnyTask;
  /** Replaces the server's message for a conflict that is not a version conflict. */
  readonly conflictText?: string;
  /** Returns whether the item has not changed since. Used where the server cannot compare versions. */
  readonly isUnchanged?: () => Promise<boolean>;
  // oxlint-disable-next-line typescript/no-explicit-any -- The result of a task of any kind.
  readonly onDone?: (result: any) => void;
}
