/**
 * Entries that arrive while the journal is open. They are visible immediately, or held back while the user reads further down,
 * so that the text on the screen does not move.
 */

export interface Numbered {
  readonly number: number;
}

export interface Arrivals<Entry extends Numbered> {
  /** Latest first, like all lists here. */
  readonly visible: readonly Entry[];
  readonly held: readonly Entry[];
  /** Too many arrived: the list must be read again instead. */
  readonly isTooMany: boolean;
}

/** More entries would make the page slow. */
export const maxArrivals = 2_000;

export const noArrivals: Arrivals<never> = { visible: [], held: [], isTooMany: false };

/** Adds new entries, which arrive in order. Earlier ones can repeat after a lost connection. */
export function addArrivals<Entry extends Numbered>(
  before: Arrivals<Entry>,
  entries: readonly Entry[],
  isHeld: boolean,
): Arrivals<Entry> {
  let last = (before.held[0] ?? before.visible[0])?.number ?? -Infinity;
  const added: Entry[] = [];
  for (const entry of entries) {
    if (entry.number <= last) continue;
    last = entry.number;
    added.unshift(entry);
  }
  if (added.length === 0) return before;
  const all = { ...before, held: [...added, ...before.held].slice(0, maxArrivals + 1) };
  return isHeld ? all : releaseHeld(all);
}

/** Makes held entries visible. */
export function releaseHeld<Entry extends Numbered>(before: Arrivals<Entry>): Arrivals<Entry> {
  if (before.held.length === 0) return before;
  const visible = [...before.held, ...before.visible];
  return visible.length > maxArrivals
    ? { ...noArrivals, isTooMany: true }
    : { visible, held: [], isTooMany: false };
}

/** Merges arrived entries with the pages that were read, without duplicates. */
export function mergeArrivals<Entry extends Numbered>(
  arrived: readonly Entry[],
  read: readonly Entry[],
): readonly Entry[] {
  const newest = read[0]?.number ?? -Infinity;
  const newer = arrived.filter(({ number }) => number > newest);
  return newer.length === 0 ? read : [...newer, ...read];
}
