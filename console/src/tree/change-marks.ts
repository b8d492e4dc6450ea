/** What others have done just now: shown at the rows for a while, and told to screen readers, many changes in one. */

import type { FolderChange, FolderRow } from '../graph/live.tsx';
import { pageTimers, type Timers } from './state/timers.ts';

const shownMs = 8_000;
/** What happens within this time is told at once. */
const gatherMs = 1_500;
/** More than these are told by their number. */
const mostTold = 3;

export class TreeMarks {
  readonly #timers: Timers;
  readonly #marks = new Map<string, { readonly text: string }>();
  readonly #listeners = new Set<() => void>();
  #gathered: string[] = [];
  #told = '';
  #version = 0;

  constructor(timers: Timers = pageTimers) {
    this.#timers = timers;
  }

  /** To be called before the change is applied: `before` and `parent` are what was known of the folder. */
  note(
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
    const what = whatHappened(change, before);
    if (name === undefined || what === null) return;
    const isGone = !change.folder;
    this.#mark(
      isGone ? parent?.id : change.folderId,
      isGone ? `“${name}” ${what}${by}` : `${what}${by}, just now`,
    );
    this.#gather(`${name} ${what}${by}.`);
  }

  readonly markOf = (id: string): string | null => this.#marks.get(id)?.text ?? null;

  /** For a live region. */
  get told(): string {
    return this.#told;
  }

  /** Another one after each change. */
  readonly version = (): number => this.#version;

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #mark(id: string | undefined, text: string): void {
    if (id === undefined) return;
    const mark = { text };
    this.#marks.set(id, mark);
    this.#tell();
    this.#timers.after(shownMs, () => {
      if (this.#marks.get(id) !== mark) return;
      this.#marks.delete(id);
      this.#tell();
    });
  }

  #gather(sentence: string): void {
    this.#gathered.push(sentence);
    if (this.#gathered.length > 1) return;
    this.#timers.after(gatherMs, () => {
      const { length } = this.#gathered;
      this.#told = length > mostTold ? `${length} changes by others.` : this.#gathered.join(' ');
      this.#gathered = [];
      this.#tell();
    });
  }

  #tell(): void {
    this.#version += 1;
    for (const listener of this.#listeners) listener();
  }
}

function whatHappened({ kind, folder, folderCount, at }: FolderChange, before?: FolderRow): string | null {
  // It is the viewer's access that has changed.
  if (at === null) return folder ? 'shown to you with other rights' : 'not shown to you any more';
  if (!folder) return before ? 'deleted' : null;
  switch (kind) {
    case 'CREATE':
      return before ? 'changed' : 'added';
    case 'UPDATE':
      return before && before.name !== folder.name ? 'renamed' : 'changed';
    case 'MOVE':
      return 'moved here';
    case 'IMPORT':
      return `given ${(folderCount ?? 0).toLocaleString('en')} folders`;
    case 'DELETE':
    case 'RESYNC':
      return null;
  }
}
interface Gone {
  readonly name: string | undefined;
  /** Administrators see everything: what is gone for them is deleted. */
  readonly isAdministrator: boolean;
}
/** Of a change that tells that a folder is not there for the viewer. */

export function goneText({ kind, at, by }: FolderChange, { name, isAdministrator }: Gone): string {
  const folder = name === undefined ? 'The folder' : `“${name}”`;
  if (at === null) return `${folder} is not shown to you any more.`;
  // What was told is of something else that happened to it before.
  if (kind !== 'DELETE') return `${folder} is not there any more.`;
  if (isAdministrator) return `${folder} was deleted${by ? ` by ${by.username}` : ''}.`;
  return by
    ? `${folder} is not there any more: ${by.username} deleted it, or moved it to where you do not see it.`
    : `${folder} is not there any more.`;
}
