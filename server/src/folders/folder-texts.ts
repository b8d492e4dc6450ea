/**
 * The name and the texts of a folder, with their limits, and the keys made from them: folded texts for search and filters, and sort
 * keys for the natural order. Lengths count code points.
 */

import { Refusal } from '../refusal.ts';

export interface FolderTexts {
  readonly title: string | null;
  readonly icon: string | null;
  readonly description: string | null;
  /** A JSON object as text; null for the empty object. */
  readonly properties: string | null;
}

/** Undefined keeps a text; null removes it. */
export interface TextsInput {
  readonly title?: string | null | undefined;
  readonly icon?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly properties?: unknown;
}

export const maxNameLength = 255;
const maxLineLength = 255;
const maxDescriptionLength = 10_000;
export const maxPropertyBytes = 16 * 1024;
const maxPropertyDepth = 32;

/** Returns only the texts in the input. An empty text becomes null. */
export function toTexts({ title, icon, description, properties }: TextsInput): Partial<FolderTexts> {
  return {
    ...(title !== undefined && { title: toLine(title, 'title') }),
    ...(icon !== undefined && { icon: toLine(icon, 'icon') }),
    ...(description !== undefined && { description: toDescription(description) }),
    ...(properties !== undefined && { properties: toProperties(properties) }),
  };
}

function badInput(text: string): Refusal {
  return new Refusal('BAD_INPUT', text);
}

function toLine(input: string | null, field: string): string | null {
  const text = toText(input, field, maxLineLength);
  if (text && /\p{Cc}/u.test(text)) {
    throw badInput(`The ${field} of a folder must not contain control characters.`);
  }
  return text;
}

function toDescription(input: string | null): string | null {
  const text = toText(input, 'description', maxDescriptionLength);
  if (text && /[^\P{Cc}\n\r\t]/u.test(text)) {
    throw badInput('A description must not contain control characters other than line ends and tabs.');
  }
  return text;
}

function toText(input: string | null, field: string, maxLength: number): string | null {
  if (input === null || input === '') return null;
  const tooLong = () => badInput(`The ${field} of a folder has at most ${maxLength} characters.`);
  if (input.length > 8 * maxLength) throw tooLong();
  const text = input.normalize('NFC');
  if (!text.isWellFormed()) throw badInput(`The ${field} of a folder must be well-formed Unicode.`);
  if (text.length > maxLength && [...text].length > maxLength) throw tooLong();
  return text;
}

function toProperties(input: unknown): string | null {
  if (input === null) return null;
  if (typeof input !== 'object' || Array.isArray(input)) {
    throw badInput('`properties` must be a JSON object.');
  }
  checkValue(input, maxPropertyDepth, { bytes: maxPropertyBytes });
  const text = JSON.stringify(input);
  if (Buffer.byteLength(text) > maxPropertyBytes) throw tooLarge();
  return text === '{}' ? null : text;
}

/** Stops early for large values: every value and every key takes at least one byte. */
function checkValue(value: unknown, levels: number, left: { bytes: number }): void {
  left.bytes -= typeof value === 'string' ? value.length + 2 : 1;
  if (left.bytes < 0) throw tooLarge();
  if (typeof value === 'string' && !value.isWellFormed()) {
    throw badInput('`properties` must be well-formed Unicode.');
  }
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw badInput('`properties` must not contain a number that is too large.');
  }
  if (typeof value !== 'object' || value === null) return;
  if (levels === 0) {
    throw badInput(`\`properties\` must not be nested deeper than ${maxPropertyDepth} levels.`);
  }
  if (Array.isArray(value)) {
    for (const inner of value) checkValue(inner, levels - 1, left);
    return;
  }
  for (const key in value) {
    checkValue(key, levels, left);
    checkValue((value as Record<string, unknown>)[key], levels - 1, left);
  }
}

function tooLarge(): Refusal {
  return badInput(`\`properties\` take at most ${maxPropertyBytes} bytes as JSON.`);
}

/** Returns the name in NFC, so that names with the same letters are equal. */
export function toFolderName(input: string): string {
  // Rejects very long input before any work. NFC shortens a text at most to a quarter.
  if (input.length > 8 * maxNameLength) throw tooLong();
  const name = input.normalize('NFC');
  if (!name.isWellFormed()) throw badInput('A folder name must be well-formed Unicode.');
  if (name === '') throw badInput('A folder name must not be empty.');
  if ([...name].length > maxNameLength) throw tooLong();
  if (/[/\p{Cc}]/u.test(name))
    throw badInput('A folder name must not contain a slash or a control character.');
  return name;
}

function tooLong(): Refusal {
  return badInput(`A folder name has at most ${maxNameLength} characters.`);
}

/** PostgreSQL rejects NUL in a parameter. No name contains a control character, so the replacement matches nothing either. */
export function withoutNul(text: string): string {
  return text.replaceAll('\0', '\u0001');
}

export function foldText(text: string): string {
  return (
    text
      .normalize('NFKD')
      .replace(/\p{Mn}+/gu, '')
      // To upper case and back, so that "strasse" finds "Straße". First to lower case, because "ẞ" has no other upper case.
      .toLowerCase()
      .toUpperCase()
      .toLowerCase()
      .replaceAll('ς', 'σ')
      .normalize('NFC')
  );
}

/** Keeps an index entry below PostgreSQL's limit of 2,704 bytes. Only letters that fold to several letters exceed it. */
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
  // The "0" keeps numbers at the position of digits among other characters. A length up to 255 takes at most two bytes.
  return `0${String.fromCharCode(significant.length)}${significant}`;
}
