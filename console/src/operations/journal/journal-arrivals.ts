/**
 * Entries that arrive while the journal is open. They are visible immediately, or held back while the user reads further down,
 * so that the text on the screen does not move.
 */

export interface Numbered {
  readonly number: number;
}

export interface Arrivals<Entry extends Numbered> {
  /** Latest first, like all lists here. */
  readonly visibleEntries: readonly Entry[];
  readonly heldEntries: readonly Entry[];
  /** Too many entries arrived, so the list must be read again. */
  readonly isTooMany: boolean;
}

/** More entries would make the page slow. */
export const maxArrivals = 2_000;

export const noArrivals: Arrivals<never> = { visibleEntries: [], heldEntries: [], isTooMany: false };

/** Adds new entries, which arrive in order. Earlier entries can repeat after a lost connection. */
export function addArrivals<Entry extends Numbered>(
  before: Arrivals<Entry>,
  entries: readonly Entry[],
  isHeld: boolean,
): Arrivals<Entry> {
  let last = (before.heldEntries[0] ?? before.visibleEntries[0])?.number ?? -Infinity;
  const newEntries: Entry[] = [];
  for (const entry of entries) {
    if (entry.number <= last) continue;
    last = entry.number;
    newEntries.unshift(entry);
  }
  if (newEntries.length === 0) return before;
  const allArrivals = {
    ...before,
    heldEntries: [...newEntries, ...before.heldEntries].slice(0, maxArrivals + 1),
  };
  return isHeld ? allArrivals : releaseHeld(allArrivals);
}

/** Makes held entries visible. */
export function releaseHeld<Entry extends Numbered>(before: Arrivals<Entry>): Arrivals<Entry> {
  if (before.heldEntries.length === 0) return before;
  const visibleEntries = [...before.heldEntries, ...before.visibleEntries];
  return visibleEntries.length > maxArrivals
    ? { ...noArrivals, isTooMany: true }
    : { visibleEntries, heldEntries: [], isTooMany: false };
}

/** Merges arrived entries with the pages that were read, without duplicates. */
export function mergeArrivals<Entry extends Numbered>(
  arrivedEntries: readonly Entry[],
  readEntries: readonly Entry[],
): readonly Entry[] {
  const newest = readEntries[0]?.number ?? -Infinity;
  const newerEntries = arrivedEntries.filter(({ number }) => number > newest);
  return newerEntries.length === 0 ? readEntries : [...newerEntries, ...readEntries];
}
