/** Stores the recent choices of each user in the palette, in the local storage of this browser. */

export interface RecentChoice {
  readonly id: string;
  /** Only for a folder or person: their label and address, so that they can be shown without a search. */
  readonly place?: { readonly label: string; readonly detail?: string | undefined; readonly path: string };
}

const most = 12;
const keyOf = (viewerId: string) => `espalier:recent:${viewerId}`;

export function readRecent(viewerId: string): readonly RecentChoice[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(keyOf(viewerId)) ?? '[]');
    return Array.isArray(kept) ? (kept as RecentChoice[]).filter((one) => typeof one?.id === 'string') : [];
  } catch {
    return [];
  }
}

export function noteRecent(viewerId: string, choice: RecentChoice): void {
  const others = readRecent(viewerId).filter(({ id }) => id !== choice.id);
  try {
    localStorage.setItem(keyOf(viewerId), JSON.stringify([choice, ...others].slice(0, most)));
  } catch {
    // Without storage, recent choices are not remembered.
  }
}
