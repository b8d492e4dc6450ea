/**
 * Stores the drafts of folders while the page is open, so that navigation in the console loses nothing. The browser asks
 * before it leaves the page with unsaved drafts.
 */

import { useSyncExternalStore } from 'react';
import { onSignOut } from '../../session/session-data.ts';
import { isUnchanged, type Draft } from './draft.ts';

interface StoredDraft {
  readonly folderId: string;
  readonly folderName: string;
  readonly draft: Draft;
  /** Whether the draft differs from the server. */
  readonly isDirty: boolean;
}

const listeners = new Set<() => void>();
let storedDrafts: readonly StoredDraft[] = [];
let stopGuard: (() => void) | undefined;

function setStoredDrafts(next: readonly StoredDraft[]): void {
  storedDrafts = next;
  if (storedDrafts.some(({ isDirty }) => isDirty)) stopGuard ??= guardUnload();
  else {
    stopGuard?.();
    stopGuard = undefined;
  }
  for (const listener of listeners) listener();
}

/** Makes the browser ask before it leaves the page. */
function guardUnload(): () => void {
  const preventLeaving = (event: BeforeUnloadEvent) => event.preventDefault();
  addEventListener('beforeunload', preventLeaving);
  return () => removeEventListener('beforeunload', preventLeaving);
}

onSignOut(
  () => setStoredDrafts([]),
  () => storedDrafts.filter(({ isDirty }) => isDirty).map(({ folderName }) => folderName),
);

export const drafts = {
  put(draft: StoredDraft): void {
    const { folderId: id } = draft;
    if (isUnchanged(draft.draft)) return drafts.drop(id);
    const isStored = storedDrafts.some(({ folderId }) => folderId === id);
    setStoredDrafts(
      isStored ? storedDrafts.map((each) => (each.folderId === id ? draft : each)) : [...storedDrafts, draft],
    );
  },
  drop(id: string): void {
    if (storedDrafts.some(({ folderId }) => folderId === id))
      setStoredDrafts(storedDrafts.filter(({ folderId }) => folderId !== id));
  },
  read: (): readonly StoredDraft[] => storedDrafts,
  subscribe: (listener: () => void): (() => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },
};

export function useDrafts(): readonly StoredDraft[] {
  return useSyncExternalStore(drafts.subscribe, drafts.read);
}

export function useDraft(id: string): Draft | undefined {
  return useDrafts().find(({ folderId }) => folderId === id)?.draft;
}
