/** The open folders and the scroll position of the tree, saved in the session storage of this tab. */

import { apiRoot } from '../console-address.ts';

interface SavedTreeView {
  readonly opened: readonly string[];
  /** The row at the upper edge, and the pixels by which it is scrolled out. */
  readonly top: { readonly id: string; readonly past: number } | null;
  /** The folder whose page was open. */
  readonly openId: string | null;
}

const key = `espalier:tree:${apiRoot}`;
const maxSavedFolders = 500;

export function saveView(sessionId: string, { opened, ...others }: SavedTreeView): void {
  try {
    const saved = { sessionId, opened: opened.slice(-maxSavedFolders), ...others };
    sessionStorage.setItem(key, JSON.stringify(saved));
  } catch {
    // Without storage, the next visit starts with a closed tree.
  }
}

/** Returns null if nothing was saved in this session. */
export function readSavedView(sessionId: string): SavedTreeView | null {
  try {
    const saved = JSON.parse(sessionStorage.getItem(key) ?? 'null') as
      (SavedTreeView & { sessionId: string }) | null;
    if (saved?.sessionId === sessionId && Array.isArray(saved.opened)) return saved;
  } catch {
    // Unreadable data counts as missing.
  }
  removeSavedView();
  return null;
}

export function removeSavedView(): void {
  try {
    sessionStorage.removeItem(key);
  } catch {
    // Without storage, there is nothing to remove.
  }
}
