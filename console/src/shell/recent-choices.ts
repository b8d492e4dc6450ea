/** Stores the recent choices of each user in the palette, in the local storage of this browser. */

import { currentView } from '../session/view-as.ts';

export interface RecentChoice {
  readonly id: string;
  /** Only for a folder or person: their label and address, so that they can be shown without a search. */
  readonly target?: { readonly label: string; readonly detail?: string | undefined; readonly path: string };
}

const maxChoices = 12;
const storageKey = (viewerId: string) => `espalier:recent:${viewerId}`;

/** A view as another user has no recent choices, because the choices of that user are private. */
export function readRecent(viewerId: string): readonly RecentChoice[] {
  if (currentView) return [];
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageKey(viewerId)) ?? '[]');
    return Array.isArray(stored)
      ? (stored as RecentChoice[]).filter((one) => typeof one?.id === 'string')
      : [];
  } catch {
    return [];
  }
}

export function rememberRecent(viewerId: string, choice: RecentChoice): void {
  if (currentView) return;
  const others = readRecent(viewerId).filter(({ id }) => id !== choice.id);
  try {
    localStorage.setItem(storageKey(viewerId), JSON.stringify([choice, ...others].slice(0, maxChoices)));
  } catch {
    // Without storage, recent choices are not remembered.
  }
}
