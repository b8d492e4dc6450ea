/**
 * Reads what the rows on the screen need, and no more: places that are not known, and levels in which something has
 * changed. What is scrolled past before it has come is not waited for.
 */

import type { FolderChange } from '../../graph/live.tsx';
import type { IndexRange } from './level.ts';
import { pageTimers, type Timers } from './timers.ts';
import { levelPageSize, type TreeQueries, type Way } from './tree-queries.ts';
import type { TreeStore } from './tree-store.ts';

/** Around the rows that are seen, what is read again of a level that has changed. */
const margin = 40;
/** While the tree is scrolled, or changes, it is looked at so often what is missing. */
const restMs = 100;
const mostAtOnce = 4;

interface Reading {
  readonly stretch: IndexRange;
  readonly ending: AbortController;
}

export class TreeLoader {
  readonly #store: TreeStore;
  readonly #reads: TreeQueries;
  readonly #timers: Timers;
  readonly #readings = new Map<string, Reading>();
  /** What happened since each question that is under way: its answer may be from before. */
  readonly #meanwhile = new Set<FolderChange[]>();
  readonly #listeners = new Set<() => void>();
  #shown: IndexRange = { from: 0, to: 0 };
  #endRest: (() => void) | null = null;
  #isWanted = false;
  #rootReading: AbortController | null = null;
  #failure: unknown = null;

  constructor(store: TreeStore, reads: TreeQueries, timers: Timers = pageTimers) {
    this.#store = store;
    this.#reads = reads;
    this.#timers = timers;
  }

  /** Why something that is shown could not be read; null if nothing failed. */
  readonly failure = (): unknown => this.#failure;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Rows that are on the screen, or will be soon. */
  setVisibleRows(rows: IndexRange): void {
    this.#shown = rows;
    this.loadMissing();
  }

  /** Looks whether something is missing, at once or after a rest. */
  loadMissing(): void {
    this.#isWanted = true;
    if (this.#endRest) return;
    this.#endRest = this.#timers.after(restMs, () => {
      this.#endRest = null;
      if (this.#isWanted) this.loadMissing();
    });
    this.#pass();
  }

  retry(): void {
    this.#fail(null);
    if (this.#store.root) this.loadMissing();
    else void this.readRoot();
  }

  apply(change: FolderChange): void {
    for (const changes of this.#meanwhile) changes.push(change);
    applyChange(this.#store, change);
    if (change.kind === 'RESYNC') void this.readRoot();
    this.loadMissing();
  }

  async readRoot(): Promise<void> {
    this.#rootReading?.abort();
    const ending = (this.#rootReading = new AbortController());
    try {
      await this.#take(
        () => this.#reads.root(ending.signal),
        (root) => this.#store.setRoot(root),
      );
      this.loadMissing();
    } catch (error) {
      if (!ending.signal.aborted) this.#fail(error);
    }
  }

  /** Opens the way to a folder and puts it in its place; null if it is not there, or not to be seen. */
  async reveal(id: string, signal?: AbortSignal): Promise<Way | null> {
    const way = await this.#take(
      () => this.#reads.way(id, signal),
      (found) => {
        if (!found || signal?.aborted) return;
        this.#place(found);
        for (const { id: above } of found.ancestors) this.#store.open(above);
      },
    );
    if (!way || signal?.aborted || !this.#store.folder(id)) return null;
    this.loadMissing();
    return way;
  }

  /** The first inside a folder whose name begins so, put in its place; null if there is none. */
  async findByPrefix(id: string, text: string): Promise<string | null> {
    try {
      const found = await this.#reads.beginning(id, text);
      return found !== null && (await this.reveal(found)) ? found : null;
    } catch {
      // As if there were none: whoever types goes on typing.
      return null;
    }
  }

  /** Forgets all that is under way. */
  stop(): void {
    for (const { ending } of this.#readings.values()) ending.abort();
    this.#readings.clear();
    this.#rootReading?.abort();
    this.#endRest?.();
    this.#endRest = null;
    this.#fail(null);
  }

  #pass(): void {
    this.#isWanted = false;
    if (!this.#store.root) return;
    const wanted = this.#wanted();
    for (const [id, { stretch, ending }] of this.#readings) {
      const still = wanted.get(id);
      if (still && still.from >= stretch.from && still.to <= stretch.to) wanted.delete(id);
      else {
        ending.abort();
        this.#readings.delete(id);
      }
    }
    if (this.#failure !== null) return;
    for (const [id, stretch] of wanted) {
      if (this.#readings.size >= mostAtOnce) {
        // The next is begun when one of these has come.
        this.#isWanted = true;
        return;
      }
      void this.#read(id, stretch);
    }
  }

  /** What is missing, by level. */
  #wanted(): Map<string, IndexRange> {
    const seen = new Map<string, IndexRange>();
    for (let index = this.#shown.from; index < this.#shown.to; index++) {
      const row = this.#store.rowAt(index);
      if (!row) break;
      if (row.folder && this.#store.level(row.folder.id)?.isEmptyAndStale)
        seen.set(row.folder.id, { from: 0, to: 0 });
      if (row.parentId === null) continue;
      const { from } = seen.get(row.parentId) ?? { from: row.position };
      seen.set(row.parentId, { from, to: row.position + 1 });
    }
    const wanted = new Map<string, IndexRange>();
    for (const [id, { from, to }] of seen) {
      const level = this.#store.level(id)!;
      if (level.isStale) wanted.set(id, { from: Math.max(0, from - margin), to: to + margin });
      else {
        const missing = level.findMissing({ from, to });
        if (missing) wanted.set(id, toPages(missing));
      }
    }
    return wanted;
  }

  async #read(id: string, stretch: IndexRange): Promise<void> {
    const ending = new AbortController();
    this.#readings.set(id, { stretch, ending });
    const { signal } = ending;
    let lost: readonly string[] = [];
    try {
      await this.#take(
        () => this.#reads.stretch(id, stretch, signal),
        (page) => {
          if (signal.aborted) return;
          this.#readings.delete(id);
          if (page) lost = this.#store.putRange(id, stretch, page.items, page.totalCount);
          else this.#store.remove(id);
        },
      );
      if (signal.aborted) return;
      for (const one of lost) void this.#find(one);
      this.loadMissing();
    } catch (error) {
      if (signal.aborted) return;
      this.#readings.delete(id);
      this.#fail(error);
    }
  }

  /** An open folder is not where it was: it has another place, or is gone. */
  async #find(id: string): Promise<void> {
    try {
      await this.#take(
        () => this.#reads.way(id),
        (way) => (way ? this.#place(way) : this.#store.remove(id)),
      );
      this.loadMissing();
    } catch {
      // It is shown where it was until its level is read again.
    }
  }

  /** Takes an answer, and once more what happened since it was asked for. */
  async #take<Answer>(ask: () => Promise<Answer>, take: (answer: Answer) => void): Promise<Answer> {
    const changes: FolderChange[] = [];
    this.#meanwhile.add(changes);
    try {
      const answer = await ask();
      take(answer);
      for (const change of changes) applyChange(this.#store, change);
      return answer;
    } finally {
      this.#meanwhile.delete(changes);
    }
  }

  #place(way: Way): void {
    const rows = [...way.ancestors, way];
    rows.forEach((row, at) => {
      const parent = rows[at - 1];
      if (parent) this.#store.putAt(row, row.position, parent.folders.totalCount);
      else this.#store.setRoot(row);
    });
  }

  #fail(error: unknown): void {
    if (error === this.#failure) return;
    this.#failure = error;
    for (const listener of this.#listeners) listener();
  }
}

function toPages({ from, to }: IndexRange): IndexRange {
  return {
    from: Math.floor(from / levelPageSize) * levelPageSize,
    to: Math.ceil(to / levelPageSize) * levelPageSize,
  };
}
export function applyChange(
  store: TreeStore,
  { kind, folderId: id, folder, oldParent, at }: FolderChange,
): void {
  if (kind === 'RESYNC') {
    if (store.root) store.markSubtreeStale(store.root.id);
    return;
  }
  if (id === null) return;
  const before = store.folder(id);
  if (!folder) {
    store.confirmRemoval(id);
    return;
  }
  if (!before && oldParent) store.markStale(oldParent.id);
  store.upsert(folder);
  if (kind === 'IMPORT') store.markStale(id);

  // What is inside may be other folders than before, or be seen with other rights: also if these have come and gone again.
  else if (before && (kind !== 'UPDATE' || at === null || before.accessLevel !== folder.accessLevel)) {
    store.markSubtreeStale(id);
  }
}
