/** How the tree was left: which folders were open and where it was scrolled to. Kept in this tab, for this session. */

import { apiRoot } from '../console-address.ts';

export interface TreeMemory {
  readonly opened: readonly string[];
  /** The row at the upper edge. */
  readonly top: { readonly id: string; readonly past: number } | null;
  /** The folder whose page was shown. */
  readonly openId: string | null;
}

const key = `espalier:tree:${apiRoot}`;
const mostOpened = 500;

export function keepMemory(sessionId: string, { opened, ...others }: TreeMemory): void {
  try {
    const kept = { sessionId, opened: opened.slice(-mostOpened), ...others };
    sessionStorage.setItem(key, JSON.stringify(kept));
  } catch {
    // Without a storage the tree begins anew.
  }
}

/** Null if nothing was kept in this session. */
export function readMemory(sessionId: string): TreeMemory | null {
  try {
    const kept = JSON.parse(sessionStorage.getItem(key) ?? 'null') as
      (TreeMemory & { sessionId: string }) | null;
    if (kept?.sessionId === sessionId && Array.isArray(kept.opened)) return kept;
  } catch {
    // As if there were none.
  }
  forgetMemory();
  return null;
}

export function forgetMemory(): void {
  try {
    sessionStorage.removeItem(key);
  } catch {
    // There is none.
  }
}
