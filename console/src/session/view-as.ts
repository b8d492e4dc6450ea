/**
 * A view of the tree as another user, in this tab only. A view starts and ends with a page load, so that no data of the two users mixes.
 * A reload keeps the view, because its token is in the session storage of the tab, next to the tokens of the session.
 */

import { EspalierError } from '@espalier/client';
import { apiRoot, consoleBase } from '../console-address.ts';

export interface View {
  readonly viewToken: string;
  readonly userId: string;
  readonly username: string;
}

const viewKey = `espalier:view:${apiRoot}`;
/** The name of the user whose view has ended before this page load. */
const endedKey = `espalier:ended-view:${apiRoot}`;

/** The view of this page, or null. It does not change until the page is left. */
export const currentView: View | null = readView();

function readView(): View | null {
  try {
    return JSON.parse(sessionStorage.getItem(viewKey) ?? 'null') as View | null;
  } catch {
    // Without storage, no view can have started.
    return null;
  }
}

/** Rejects if the tab has no storage. */
export function startView(view: View): void {
  sessionStorage.setItem(viewKey, JSON.stringify(view));
  location.assign(`${consoleBase}folders`);
}

let isLeaving = false;

/** Leaves the view. `isStopped` means that the administrator chose it; otherwise the next page explains the end. */
export function leaveView({ isStopped }: { readonly isStopped: boolean }): void {
  if (!currentView || isLeaving) return;
  isLeaving = true;
  sessionStorage.removeItem(viewKey);
  if (!isStopped) sessionStorage.setItem(endedKey, currentView.username);
  location.replace(consoleBase + (isStopped ? `users/${currentView.userId}` : 'folders'));
}

/** Returns the name once, on the first page after the end. */
export function takeEndedView(): string | null {
  try {
    const username = sessionStorage.getItem(endedKey);
    sessionStorage.removeItem(endedKey);
    return username;
  } catch {
    // Without storage, no view can have ended.
    return null;
  }
}

/** Leaves the view if the server has ended it. Returns whether it has. */
export function leaveEndedView(error: unknown): boolean {
  const isEnded = error instanceof EspalierError && error.code === 'INVALID_VIEW_TOKEN';
  if (isEnded) leaveView({ isStopped: false });
  return isEnded;
}
