/**
 * What arrives while the journal is followed: shown at once, or held while somebody reads further down, since what they
 * read must not move.
 */

export interface Numbered {
  readonly number: number;
}

export interface Arrivals<Entry extends Numbered> {
  /** The latest first, as all here. */
  readonly shown: readonly Entry[];
  readonly held: readonly Entry[];
  /** There were so many that the list is to be read anew instead. */
  readonly isTooMany: boolean;
}

/** More than a page can show without becoming slow; so many do not arrive while somebody reads. */
export const mostArrivals = 2_000;

export const noArrivals: Arrivals<never> = { shown: [], held: [], isTooMany: false };

/** Entries come in their order; what is known already may come again after a lost connection. */
export function arrive<Entry extends Numbered>(
  before: Arrivals<Entry>,
  entries: readonly Entry[],
  isHeld: boolean,
): Arrivals<Entry> {
  let last = (before.held[0] ?? before.shown[0])?.number ?? -Infinity;
  const added: Entry[] = [];
  for (const entry of entries) {
    if (entry.number <= last) continue;
    last = entry.number;
    added.unshift(entry);
  }
  if (added.length === 0) return before;
  const all = { ...before, held: [...added, ...before.held].slice(0, mostArrivals + 1) };
  return isHeld ? all : release(all);
}

/** Shows what was held. */
export function release<Entry extends Numbered>(before: Arrivals<Entry>): Arrivals<Entry> {
  if (before.held.length === 0) return before;
  const shown = [...before.held, ...before.shown];
  return shown.length > mostArrivals
    ? { ...noArrivals, isTooMany: true }
    : { shown, held: [], isTooMany: false };
}

/** Both as one list: what was read again since may hold what has arrived. */
export function withArrivals<Entry extends Numbered>(
  arrived: readonly Entry[],
  read: readonly Entry[],
): readonly Entry[] {
  const newest = read[0]?.number ?? -Infinity;
  const newer = arrived.filter(({ number }) => number > newest);
  return newer.length === 0 ? read : [...newer, ...read];
}
