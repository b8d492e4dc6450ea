/**
 * Refuses invalid names and texts of folders, and makes keys from them: folded texts for search and filters, and sort keys for the
 * natural order.
 */

import {
  checkFolderName,
  checkFolderTexts,
  InvalidFolderTextError,
  type FolderTexts,
  type FolderTextsInput,
} from '@espalier/contract';
import { Refusal } from '../refusal.ts';

export type { FolderTexts, FolderTextsInput };

/** Returns only the texts in the input. An empty text becomes null. */
export function toTexts(input: FolderTextsInput): Partial<FolderTexts> {
  return refuseInvalid(() => checkFolderTexts(input));
}

/** Returns the name in NFC, so that names with the same letters are equal. */
export function toFolderName(input: string): string {
  return refuseInvalid(() => checkFolderName(input));
}

function refuseInvalid<T>(check: () => T): T {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof InvalidFolderTextError)) throw error;
    throw new Refusal('BAD_INPUT', error.message, { facts: { inputField: error.field } });
  }
}

/** PostgreSQL rejects NUL in a parameter. The replacement also matches no name, because names contain no control characters. */
export function withoutNul(text: string): string {
  return text.replaceAll('\0', '\u0001');
}

export function foldText(text: string): string {
  return (
    text
      .normalize('NFKD')
      .replace(/\p{Mn}+/gu, '')
      // Converts to upper case and back, so that "strasse" finds "Straße". Lower case comes first, because "ẞ" is already upper case.
      .toLowerCase()
      .toUpperCase()
      .toLowerCase()
      .replaceAll('ς', 'σ')
      .normalize('NFC')
  );
}

/** Keeps an index entry below PostgreSQL's limit of 2,704 bytes. Only texts with letters that fold to several letters exceed it. */
const maxStoredBytes = 2_048;

/** The folded text that the database stores. */
export function foldForStorage(text: string): string {
  const folded = foldText(text);
  if (Buffer.byteLength(folded) <= maxStoredBytes) return folded;
  const { read } = new TextEncoder().encodeInto(folded, new Uint8Array(maxStoredBytes));
  return folded.slice(0, read);
}

/** Keeps an index entry below PostgreSQL's limit of 2,704 bytes. Equal keys are ordered by id. */
const maxKeyBytes = 1_024;

/**
 * The bytes that order siblings: "Floor 2" before "Floor 10", first without regard to case and accents, then with them. They are
 * compared byte by byte, so the order does not depend on a collation and is the same on every database.
 */
export function sortKey(name: string): Uint8Array {
  const letters = name
    .normalize('NFD')
    .replace(/[\u0300-\u036f]+/g, '')
    .normalize('NFC')
    .toLowerCase();
  const primary = letters.replace(/\d+/g, orderedNumber);
  // No name contains a control character, so the separator sorts before every character of a longer name.
  const key = Buffer.from(primary === name ? primary : `${primary}\0${name}`);
  return key.subarray(0, maxKeyBytes);
}

/** Puts the number of digits before the digits, so that longer numbers sort later. Ignores leading zeros. */
function orderedNumber(digits: string): string {
  const significant = digits.replace(/^0+(?=\d)/, '');
  // The "0" makes a number sort among other characters like a digit.
  return `0${String.fromCharCode(significant.length)}${significant}`;
}
