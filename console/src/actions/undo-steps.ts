/** Taking back what was done: only while it is as it was left, so that nothing is lost that somebody did since. */

import { EspalierError } from '@espalier/client';
import { isTransient, describeProblem } from '../graph/problem.ts';
import type { AnyTask, UndoStep } from './task.ts';

export interface NotTakenBack {
  readonly problem: string;
  /** What can be tried again; none, if that does not help. */
  readonly left: readonly UndoStep[];
}

/** One step after the other, until one is refused. Answers with nothing when all were done. */
export async function takeBack(
  steps: readonly UndoStep[],
  perform: (task: AnyTask) => Promise<unknown>,
): Promise<NotTakenBack | undefined> {
  for (const [at, { subject, task, conflictText, isUnchanged, onDone }] of steps.entries()) {
    const taking = task();
    const taken = at === 0 ? 'Nothing was taken back.' : `${at} of ${steps.length} were taken back.`;
    const changed = `You or somebody else has changed ${subject} since. ${taken}`;
    try {
      if (isUnchanged && !(await isUnchanged())) return { problem: changed, left: [] };
      const result = await perform(taking);
      onDone?.(result);
    } catch (error) {
      const { code, text } = describeProblem(error);
      const reason = (code === 'CONFLICT' && conflictText) || `${taking.action.label}: ${text}`;
      return {
        problem: isOtherVersion(error) ? changed : `${reason} ${taken}`,
        left: isTransient(error) ? steps.slice(at) : [],
      };
    }
  }
  return undefined;
}

/** A name that is not free is a conflict too, but tells no version. */
function isOtherVersion(error: unknown): boolean {
  if (!(error instanceof EspalierError) || error.code !== 'CONFLICT') return false;
  return (error.errors ?? []).some(({ extensions }) => typeof extensions?.['version'] === 'number');
}

/**
 * Versions that stand for earlier ones: what is taken back gets a new version, but is what it was before. So one change
 * after the other can be taken back, the latest first.
 */
export class StandingVersions {
  readonly #next = new Map<string, number>();

  /** The one that a folder has now, if it has only been changed and changed back since `version`. */
  now(id: string, version: number): number {
    let last = version;
    for (
      let next = this.#next.get(`${id} ${last}`);
      next !== undefined;
      next = this.#next.get(`${id} ${last}`)
    )
      last = next;
    return last;
  }

  /** `undone` is again what `before` was. */
  note(id: string, before: number, undone: number): void {
    if (undone > before) this.#next.set(`${id} ${before}`, undone);
  }
}

/** Of all folders, as far as they were changed here. */
export const folderVersions = new StandingVersions();
