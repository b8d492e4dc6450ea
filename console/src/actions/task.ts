/** Something to be done once, with what is shown of it before and said of it after, and the way back from it. */

import type { GraphQueryKey } from '../graph/use-graph.ts';
import type { Call } from './action.ts';

export interface Task<Variables extends object, Result> extends Call<Variables, Result> {
  /** What to say when it is done; without it, nothing is said. */
  readonly doneText?: string | ((result: Result) => string);
  /** What takes it back, one step after the other; none, if nothing can after all. */
  readonly undoSteps?: (result: Result) => readonly UndoStep[];
  /** What is to be read again when it is done, or was refused. */
  readonly staleQueries?: readonly GraphQueryKey[];
  /** Shows the result before the server has it; answers with how to take that back. */
  readonly optimisticUpdate?: () => () => void;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- Tasks of any kind in one list.
export type AnyTask = Task<any, any>;

export interface UndoStep {
  /** What it is about, as in a sentence: `“Seeds”`. */
  readonly subject: string;
  /** Made when its turn comes: the steps before may have made newer versions. */
  readonly task: () => AnyTask;
  /** What to tell of a conflict other than that of versions, in place of the server's own words. */
  readonly conflictText?: string;
  /** Where the server cannot compare versions: whether it is as it was left. */
  readonly isUnchanged?: () => Promise<boolean>;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- The answer to a task of any kind.
  readonly onDone?: (result: any) => void;
}
