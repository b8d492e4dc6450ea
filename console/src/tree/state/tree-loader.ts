/**
 * Loads the rows that the screen needs and no others: missing positions, and levels that have changed. Requests for rows
 * that have left the screen are aborted. `apply` applies a live change to the store, and reads only the visible rows of levels
 * that the change makes stale.
 */

import { isAccessChange, type FolderChange } from '../../graph/folder-change.ts';
import type { IndexRange } from './level.ts';
import { pageTimers, type Timers } from './timers.ts';
import { levelPageSize, type TreeQueries, type FolderPath } from './tree-queries.ts';
import type { TreeStore } from './tree-store.ts';

/** The number of rows around the visible ones that are read again after a level has changed. */
const staleMargin = 40;
/** While the tree is scrolled or changes, missing rows are looked up at most once per interval. */
const throttleMs = 100;
const maxConcurrentReads = 4;

interface PendingRead {
  readonly range: IndexRange;
  readonly controller: AbortController;
}

export class TreeLoader {
  readonly #store: TreeStore;
  readonly #queries: TreeQueries;
  readonly #timers: Timers;
  readonly #pendingReads = new Map<string, PendingRead>();
  /** For each pending read, the changes that arrived since it began. The response may not contain these changes. */
  readonly #concurrentChanges = new Set<FolderChange[]>();
  readonly #listeners = new Set<() => void>();
  #visibleRows: IndexRange = { from: 0, to: 0 };
  #cancelThrottle: (() => void) | null = null;
  #isCheckPending = false;
  #rootAbort: AbortController | null = null;
  #failure: unknown = null;

  constructor(store: TreeStore, queries: TreeQueries, timers: Timers = pageTimers) {
    this.#store = store;
    this.#queries = queries;
    this.#timers = timers;
  }

  /** The error of the last failed read, or null. */
  readonly failure = (): unknown => this.#failure;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Sets the rows that are on the screen or close to it, and loads those that are missing. */
  setVisibleRows(rows: IndexRange): void {
    this.#visibleRows = rows;
    this.loadMissing();
  }

  /** Starts reads for missing rows, immediately or at the end of the throttle interval. */
  loadMissing(): void {
    this.#isCheckPending = true;
    if (this.#cancelThrottle) return;
    this.#cancelThrottle = this.#timers.after(throttleMs, () => {
      this.#cancelThrottle = null;
      if (this.#isCheckPending) this.loadMissing();
    });
    this.#startReads();
  }

  /** Loads the missing rows of a range. Its rows need not be on the screen. */
  async loadRows(rows: IndexRange): Promise<void> {
    await Promise.all([...this.#findMissing(rows)].map(([id, range]) => this.#loadRange(id, range)));
  }

  /** Loads the missing children of a folder. Its rows need not be on the screen. */
  async loadChildren(id: string, range: IndexRange): Promise<void> {
    const level = this.#store.level(id);
    const missing = level?.isStale === false ? level.findMissing(range) : range;
    if (missing) await this.#loadRange(id, missing);
  }

  async #loadRange(id: string, range: IndexRange): Promise<void> {
    await this.#applyResponse(
      () => this.#queries.readRange(id, range),
      (page) => page && this.#store.putRange(id, range, page.items, page.totalCount),
    );
  }

  retry(): void {
    this.#setFailure(null);
    if (this.#store.root) this.loadMissing();
    else void this.readRoot();
  }

  /** Applies a live change to the store and reads levels that it makes stale. */
  apply(change: FolderChange): void {
    for (const changes of this.#concurrentChanges) changes.push(change);
    applyChange(this.#store, change);
    if (change.kind === 'RESYNC') void this.readRoot();
    this.loadMissing();
  }

  async readRoot(): Promise<void> {
    this.#rootAbort?.abort();
    const controller = (this.#rootAbort = new AbortController());
    try {
      await this.#applyResponse(
        () => this.#queries.readRoot(controller.signal),
        (root) => this.#store.setRoot(root),
      );
      this.loadMissing();
    } catch (error) {
      if (!controller.signal.aborted) this.#setFailure(error);
    }
  }

  /** Loads a folder with its ancestors and expands the ancestors. Returns null if the viewer cannot see the folder. */
  async reveal(id: string, signal?: AbortSignal): Promise<FolderPath | null> {
    const path = await this.#applyResponse(
      () => this.#queries.readPath(id, signal),
      (found) => {
        if (!found || signal?.aborted) return;
        this.#putPath(found);
        for (const ancestor of found.ancestors) this.#store.expand(ancestor.id);
      },
    );
    if (!path || signal?.aborted || !this.#store.folder(id)) return null;
    this.loadMissing();
    return path;
  }

  /** Finds and loads the first child whose name starts with the text. Returns null if there is none. */
  async findByPrefix(id: string, text: string): Promise<string | null> {
    try {
      const found = await this.#queries.findByPrefix(id, text);
      return found !== null && (await this.reveal(found)) ? found : null;
    } catch {
      // A failed lookup counts as no match: the user can type the next letter to try again.
      return null;
    }
  }

  /** Aborts all pending reads. */
  stop(): void {
    for (const { controller } of this.#pendingReads.values()) controller.abort();
    this.#pendingReads.clear();
    this.#rootAbort?.abort();
    this.#cancelThrottle?.();
    this.#cancelThrottle = null;
    this.#setFailure(null);
  }

  #startReads(): void {
    this.#isCheckPending = false;
    if (!this.#store.root) return;
    const missing = this.#findMissing(this.#visibleRows);
    for (const [id, { range, controller }] of this.#pendingReads) {
      const needed = missing.get(id);
      if (needed && needed.from >= range.from && needed.to <= range.to) missing.delete(id);
      else {
        controller.abort();
        this.#pendingReads.delete(id);
      }
    }
    if (this.#failure !== null) return;
    for (const [id, range] of missing) {
      if (this.#pendingReads.size >= maxConcurrentReads) {
        // A finished read calls `loadMissing`, which starts the next one.
        this.#isCheckPending = true;
        return;
      }
      void this.#read(id, range);
    }
  }

  /** Returns the range to read for each level. */
  #findMissing(rows: IndexRange): Map<string, IndexRange> {
    const visible = new Map<string, IndexRange>();
    for (let index = rows.from; index < rows.to; index++) {
      const row = this.#store.rowAt(index);
      if (!row) break;
      if (row.folder && this.#store.level(row.folder.id)?.isEmptyAndStale)
        visible.set(row.folder.id, { from: 0, to: 0 });
      if (row.parentId === null) continue;
      const { from } = visible.get(row.parentId) ?? { from: row.position };
      visible.set(row.parentId, { from, to: row.position + 1 });
    }
    const needed = new Map<string, IndexRange>();
    for (const [id, { from, to }] of visible) {
      const level = this.#store.level(id)!;
      if (level.isStale) needed.set(id, { from: Math.max(0, from - staleMargin), to: to + staleMargin });
      else {
        const missing = level.findMissing({ from, to });
        if (missing) needed.set(id, roundToPages(missing));
      }
    }
    return needed;
  }

  async #read(id: string, range: IndexRange): Promise<void> {
    const controller = new AbortController();
    this.#pendingReads.set(id, { range, controller });
    const { signal } = controller;
    let lost: readonly string[] = [];
    try {
      await this.#applyResponse(
        () => this.#queries.readRange(id, range, signal),
        (page) => {
          if (signal.aborted) return;
          this.#pendingReads.delete(id);
          if (page) lost = this.#store.putRange(id, range, page.items, page.totalCount);
          else this.#store.remove(id);
        },
      );
      if (signal.aborted) return;
      for (const lostId of lost) void this.#relocate(lostId);
      this.loadMissing();
    } catch (error) {
      if (signal.aborted) return;
      this.#pendingReads.delete(id);
      this.#setFailure(error);
    }
  }

  /** Finds the new position of an expanded folder that left its old one, or removes the folder. */
  async #relocate(id: string): Promise<void> {
    try {
      await this.#applyResponse(
        () => this.#queries.readPath(id),
        (path) => (path ? this.#putPath(path) : this.#store.remove(id)),
      );
      this.loadMissing();
    } catch {
      // The folder stays at its old position until its level is read again.
    }
  }

  /** Applies a response, and then repeats the changes that arrived since the request. */
  async #applyResponse<Response>(
    send: () => Promise<Response>,
    apply: (response: Response) => void,
  ): Promise<Response> {
    const changes: FolderChange[] = [];
    this.#concurrentChanges.add(changes);
    try {
      const response = await send();
      apply(response);
      for (const change of changes) applyChange(this.#store, change);
      return response;
    } finally {
      this.#concurrentChanges.delete(changes);
    }
  }

  #putPath(path: FolderPath): void {
    const rows = [...path.ancestors, path];
    rows.forEach((row, index) => {
      const parent = rows[index - 1];
      if (parent) this.#store.putAt(row, row.position, parent.folders.totalCount);
      else this.#store.setRoot(row);
    });
  }

  #setFailure(error: unknown): void {
    if (error === this.#failure) return;
    this.#failure = error;
    for (const listener of this.#listeners) listener();
  }
}

function roundToPages({ from, to }: IndexRange): IndexRange {
  return {
    from: Math.floor(from / levelPageSize) * levelPageSize,
    to: Math.ceil(to / levelPageSize) * levelPageSize,
  };
}

/** Applies a change from the server to the store. Applying it twice has no further effect. */
export function applyChange(store: TreeStore, change: FolderChange): void {
  const { kind, folderId: id, folder, oldParent } = change;
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
  // The descendants may have changed, or the viewer's rights on them, even if the level looks the same.
  else if (
    before &&
    (kind !== 'UPDATE' || isAccessChange(change) || before.accessLevel !== folder.accessLevel)
  ) {
    store.markSubtreeStale(id);
  }
}
