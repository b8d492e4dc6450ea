/** What users and groups may be called. */

import { Refusal } from '../refusal.ts';

export const maxAccountNameLength = 128;

/** The name as it is kept, composed (NFC), or undefined if nobody can have it. Lengths count code points. */
export function toAccountName(given: string): string | undefined {
  // Before any work on it: a text of any length could stand there.
  if (given.length > 8 * maxAccountNameLength) return undefined;
  const name = given.normalize('NFC');
  const length = [...name].length;
  return length >= 1 && length <= maxAccountNameLength && name.isWellFormed() && !/\p{Cc}/u.test(name)
    ? name
    : undefined;
}

export function requireAccountName(given: string, what: 'user name' | 'group name'): string {
  const name = toAccountName(given);
  if (name) return name;
  throw new Refusal(
    'BAD_INPUT',
    `A ${what} has 1 to ${maxAccountNameLength} characters and no control characters.`,
  );
}

/** Names that differ only in upper and lower case are the same; lists are in the order of this key. */
export function accountNameKey(name: string): string {
  return name.toLowerCase();
}

/**
 * The pattern for `like … escape '!'` by which keys that hold the text are found; undefined if no name can hold it.
 * Without a text it is every key.
 */
export function searchPattern(text: string | null | undefined): string | undefined {
  if (!text) return '%';
  const name = toAccountName(text);
  return name && `%${accountNameKey(name).replace(/[!%_]/g, '!$&')}%`;
}
