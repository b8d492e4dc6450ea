/** What an entry of the journal changed, piece by piece: what was, and what it became. */

import type { JournalDetails, JournalEntry } from './journal-sentence.ts';

export interface Difference {
  /** Such as `title`, or `properties.city`. */
  readonly name: string;
  /** Null if it was not there. */
  readonly before: string | null;
  /** Null if it is not there any more. */
  readonly after: string | null;
}

/** Nothing for what only repeats the name of its subject. */
export function diffJournalEntry({
  before,
  after,
}: Pick<JournalEntry, 'before' | 'after'>): readonly Difference[] {
  return differences(before ?? {}, after ?? {}).filter(
    ({ name, before: old, after: now }) =>
      !(['name', 'username'].includes(name) && (old === null || now === null)),
  );
}

function differences(before: JournalDetails, after: JournalDetails, prefix = ''): Difference[] {
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return keys.flatMap((key) => {
    const [old, now] = [before[key], after[key]];
    const name = prefix + key;
    if (key === 'properties' && prefix === '') {
      const [oldOnes, newOnes] = [objectIn(old), objectIn(now)];
      if (oldOnes && newOnes) return differences(oldOnes, newOnes, 'properties.');
    }
    const [oldText, newText] = [textOf(old), textOf(now)];
    return oldText === newText ? [] : [{ name, before: oldText, after: newText }];
  });
}

/** Properties are written down as text, of which only the beginning is kept if it is long. */
function objectIn(value: unknown): JournalDetails | undefined {
  if (value === null || value === undefined) return {};
  try {
    const parsed: unknown = typeof value === 'string' ? JSON.parse(value) : value;
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is JournalDetails {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
