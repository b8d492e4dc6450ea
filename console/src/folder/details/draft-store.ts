/**
 * What has been typed on the pages of folders and not saved, for as long as the page is open: going elsewhere in the console
 * loses nothing, and the browser asks before it leaves.
 */

import { useSyncExternalStore } from 'react';
import { onSignOut } from '../../session/session-data.ts';
import { isUntouched, type Draft } from './draft.ts';

export interface KeptDraft {
  readonly folderId: string;
  readonly folderName: string;
  readonly draft: Draft;
  /** Whether something would be lost. */
  readonly isDirty: boolean;
}

const listeners = new Set<() => void>();
let kept: readonly KeptDraft[] = [];
let stopGuard: (() => void) | undefined;

function set(next: readonly KeptDraft[]): void {
  kept = next;
  if (kept.some(({ isDirty }) => isDirty)) stopGuard ??= guard();
  else {
    stopGuard?.();
    stopGuard = undefined;
  }
  for (const listener of listeners) listener();
}

/** While there is something to be lost. */
function guard(): () => void {
  const ask = (event: BeforeUnloadEvent) => event.preventDefault();
  addEventListener('beforeunload', ask);
  return () => removeEventListener('beforeunload', ask);
}

onSignOut(
  () => set([]),
  () => kept.filter(({ isDirty }) => isDirty).map(({ folderName }) => folderName),
);

export const drafts = {
  put(one: KeptDraft): void {
    if (isUntouched(one.draft)) return drafts.drop(one.folderId);
    const isThere = kept.some(({ folderId }) => folderId === one.folderId);
    set(isThere ? kept.map((each) => (each.folderId === one.folderId ? one : each)) : [...kept, one]);
  },
  drop(id: string): void {
    if (kept.some(({ folderId }) => folderId === id)) set(kept.filter(({ folderId }) => folderId !== id));
  },
  read: (): readonly KeptDraft[] => kept,
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

export function useDrafts(): readonly KeptDraft[] {
  return useSyncExternalStore(drafts.subscribe, drafts.read);
}

export function useDraft(id: string): Draft | undefined {
  return useDrafts().find(({ folderId }) => folderId === id)?.draft;
}
