/** Opens the snapshots of answers that are read at once, with the viewer's rights of the same moment. */

import type { AccessCache } from '../access/access-cache.ts';
import { isPromise, whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import type { Database, Snapshot } from '../database/database.ts';
import { isRowId } from '../database/statement.ts';
import { readFirst } from '../folders/first-read.ts';
import type { FirstRead } from '../folders/folders.ts';
import type { ViewerSnapshot } from './long-reads.ts';
import type { ReadyPlan } from './plan/query-plans.ts';
import type { Viewer } from '../sessions/viewer.ts';

/** Thrown when an answer that was to be one statement needs another one. It has to be read again in a snapshot. */
export class SecondRead extends Error {}

export interface OpenOptions {
  /** The first folder of this plan is read together with the head of the journal. */
  readonly plan?: ReadyPlan | undefined;
  /** An answer that needs only one statement is read without a transaction. A further read throws a `SecondRead`. */
  readonly mayReadOnce?: boolean | undefined;
}

export class ViewerSnapshots {
  readonly #database: Database;
  readonly #accessCache: AccessCache;

  constructor({ database, accessCache }: { readonly database: Database; readonly accessCache: AccessCache }) {
    this.#database = database;
    this.#accessCache = accessCache;
  }

  open({ userId }: Viewer, { plan, mayReadOnce = false }: OpenOptions = {}): PromiseOrValue<ViewerSnapshot> {
    const isOneStatement = mayReadOnce && !this.#database.isEmbedded && plan?.firstRead?.isOnly === true;
    const reader = isOneStatement ? noSnapshot : this.#database.openSnapshot();
    const refuse = (error: unknown): never => {
      reader.end();
      throw error;
    };
    try {
      const firstRead = this.#readFirst(userId, plan, isOneStatement ? this.#database : reader);
      if (isOneStatement && !firstRead) throw new SecondRead();
      const found = whenDone(firstRead, (first) =>
        whenDone(this.#accessCache.accessFor(reader, userId, first?.head), (latest) => ({
          ...latest,
          reader,
          first,
        })),
      );
      return isPromise(found) ? found.catch(refuse) : found;
    } catch (error) {
      return refuse(error);
    }
  }

  /** Undefined if the plan reads no folder by its id, or the root of a viewer who is not known yet. */
  #readFirst(
    userId: string,
    plan: ReadyPlan | undefined,
    reader: Database | Snapshot,
  ): PromiseOrValue<FirstRead> | undefined {
    if (!plan?.firstRead) return undefined;
    const { firstRead, variables } = plan;
    const access = this.#accessCache.peek(userId)?.access;
    const folderId = firstRead.folder(variables);
    const id = folderId === null ? access?.rootId : folderId;
    if (id === undefined || !isRowId(id)) return undefined;
    const page = access && !reader.isEmbedded ? firstRead.page(variables, id, access) : undefined;
    return readFirst(reader, id, { rootId: access?.rootId, withAncestors: firstRead.withAncestors, page });
  }
}

/** For an answer that needs no further read. */
export const noSnapshot: Snapshot = {
  isConsistent: true,
  isEmbedded: false,
  all: () => Promise.reject(new SecondRead()),
  get: () => Promise.reject(new SecondRead()),
  end: () => undefined,
};
