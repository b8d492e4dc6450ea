/** What somebody chose lately in the palette: kept in this browser, apart for each person. */

export interface RecentChoice {
  readonly id: string;
  /** Of a folder or a person, which are not known until they are searched for. */
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
    // Storage is full or closed: nothing is remembered.
  }
}
