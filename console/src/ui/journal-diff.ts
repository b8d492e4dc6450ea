/** Lists the differences that a journal entry records, with old and new values. */

import type { JournalDetails, JournalEntry } from './journal-sentence.ts';

interface Difference {
  /** For example `title` or `properties.city`. */
  readonly name: string;
  /** Null if it did not exist. */
  readonly before: string | null;
  /** Null if it was removed. */
  readonly after: string | null;
}

/** Leaves out a name that only identifies a created or deleted subject. */
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
      const [oldProperties, newProperties] = [parseObject(old), parseObject(now)];
      if (oldProperties && newProperties) return differences(oldProperties, newProperties, 'properties.');
    }
    const [oldText, newText] = [formatValue(old), formatValue(now)];
    return oldText === newText ? [] : [{ name, before: oldText, after: newText }];
  });
}

/** The journal stores properties as text and truncates long texts, which then are not valid JSON. */
function parseObject(value: unknown): JournalDetails | undefined {
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

function formatValue(value: unknown): string | null {
  if (value === null || value === undefined) return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
