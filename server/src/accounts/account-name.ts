/** Validates and compares the names of users and groups. */

import { Refusal } from '../refusal.ts';

export const maxAccountNameLength = 128;

/** Returns the name in NFC, as it is stored, or undefined if it is invalid. Lengths count code points. */
export function toAccountName(input: string): string | undefined {
  // Checked first, because the input can have any length.
  if (input.length > 8 * maxAccountNameLength) return undefined;
  const name = input.normalize('NFC');
  const length = [...name].length;
  return length >= 1 && length <= maxAccountNameLength && name.isWellFormed() && !/\p{Cc}/u.test(name)
    ? name
    : undefined;
}

export function requireAccountName(input: string, kind: 'user name' | 'group name'): string {
  const name = toAccountName(input);
  if (name) return name;
  throw new Refusal(
    'BAD_INPUT',
    `A ${kind} has 1 to ${maxAccountNameLength} characters and no control characters.`,
  );
}

/** The key by which names are compared, without regard to case, and sorted. */
export function accountNameKey(name: string): string {
  return name.toLowerCase();
}

/**
 * Returns a pattern for `like … escape '!'` that matches the keys containing the text, or every key without a text.
 * Returns undefined if no name can contain the text.
 */
export function searchPattern(text: string | null | undefined): string | undefined {
  if (!text) return '%';
  const name = toAccountName(text);
  return name && `%${accountNameKey(name).replace(/[!%_]/g, '!$&')}%`;
}
