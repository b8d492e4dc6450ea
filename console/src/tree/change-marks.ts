/** Recent changes by other users: marks on the rows, a summary for screen readers, and the reason why a folder is gone. */

import { isAccessChange, type FolderChange, type FolderRow } from '../graph/folder-change.ts';
import { pageTimers, type Timers } from './state/timers.ts';

const markMs = 8_000;
/** Changes within this interval are announced together. */
const batchMs = 1_500;
/** Above this number, only the count is announced. */
const maxAnnounced = 3;

export class ChangeMarks {
  readonly #timers: Timers;
  readonly #marks = new Map<string, { readonly text: string }>();
  readonly #listeners = new Set<() => void>();
  #batch: string[] = [];
  #announcement = '';
  #version = 0;

  constructor(timers: Timers = pageTimers) {
    this.#timers = timers;
  }

  /** Call this before the change is applied. `before` and `parent` are the folder and its parent in the store. */
  record(
    change: FolderChange,
    {
      before,
      parent,
      viewerId,
    }: { before?: FolderRow | undefined; parent?: FolderRow | undefined; viewerId: string },
  ): void {
    if (change.by?.id === viewerId || change.folderId === null || change.kind === 'RESYNC') return;
    const by = change.by ? ` by ${change.by.username}` : '';
    const name = change.folder?.name ?? before?.name;
    const what = describeChange(change, before);
    if (name === undefined || what === null) return;
    const isGone = !change.folder;
    this.#mark(
      isGone ? parent?.id : change.folderId,
      isGone ? `“${name}” ${what}${by}` : `${what}${by}, just now`,
    );
    this.#announceLater(`${name} ${what}${by}.`);
  }

  readonly markOf = (id: string): string | null => this.#marks.get(id)?.text ?? null;

  /** The text for a live region. */
  get announcement(): string {
    return this.#announcement;
  }

  /** Increases with each change, for `useSyncExternalStore`. */
  readonly version = (): number => this.#version;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #mark(id: string | undefined, text: string): void {
    if (id === undefined) return;
    const mark = { text };
    this.#marks.set(id, mark);
    this.#notify();
    this.#timers.after(markMs, () => {
      if (this.#marks.get(id) !== mark) return;
      this.#marks.delete(id);
      this.#notify();
    });
  }

  #announceLater(sentence: string): void {
    this.#batch.push(sentence);
    if (this.#batch.length > 1) return;
    this.#timers.after(batchMs, () => {
      const { length } = this.#batch;
      this.#announcement =
        length > maxAnnounced ? `${length} changes by other users.` : this.#batch.join(' ');
      this.#batch = [];
      this.#notify();
    });
  }

  #notify(): void {
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}

function describeChange(change: FolderChange, before?: FolderRow): string | null {
  const { kind, folder, folderCount } = change;
  if (isAccessChange(change)) return folder ? 'your access changed' : 'no longer visible to you';
  if (!folder) return before ? 'deleted' : null;
  switch (kind) {
    case 'CREATE':
      return before ? 'changed' : 'added';
    case 'UPDATE':
      return before && before.name !== folder.name ? 'renamed' : 'changed';
    case 'MOVE':
      return 'moved here';
    case 'IMPORT':
      return `${(folderCount ?? 0).toLocaleString('en')} ${folderCount === 1 ? 'folder' : 'folders'} imported`;
    case 'DELETE':
    case 'RESYNC':
      return null;
  }
}

interface GoneFolderOptions {
  readonly name: string | undefined;
  /** Administrators see all folders, so a folder that is gone for them was deleted. */
  readonly isAdministrator: boolean;
}

/** Explains a change after which the viewer cannot see the folder. */
export function describeGoneFolder(
  change: FolderChange,
  { name, isAdministrator }: GoneFolderOptions,
): string {
  const { kind, by } = change;
  const folder = name === undefined ? 'The folder' : `“${name}”`;
  if (isAccessChange(change)) return `${folder} is no longer visible to you.`;
  // Another change was reported before the deletion.
  if (kind !== 'DELETE') return `${folder} is no longer available.`;
  if (isAdministrator) return `${folder} was deleted${by ? ` by ${by.username}` : ''}.`;
  return by
    ? `${folder} is no longer visible to you: ${by.username} deleted it or moved it to a folder that you cannot see.`
    : `${folder} is no longer available.`;
}
