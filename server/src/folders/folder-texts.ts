/** The name and the texts of a folder, and their limits. Lengths count code points. */

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

function toLine(input: string | null, field: string): string | null {
  const text = toText(input, field, maxLineLength);
  if (text && /\p{Cc}/u.test(text)) {
    throw new Refusal('BAD_INPUT', `The ${field} of a folder must not hold control characters.`);
  }
  return text;
}

function toDescription(input: string | null): string | null {
  const text = toText(input, 'description', maxDescriptionLength);
  if (text && /[^\P{Cc}\n\r\t]/u.test(text)) {
    throw new Refusal(
      'BAD_INPUT',
      'A description must not hold control characters other than line ends and tabs.',
    );
  }
  return text;
}

function toText(input: string | null, field: string, maxLength: number): string | null {
  if (input === null || input === '') return null;
  const tooLong = () =>
    new Refusal('BAD_INPUT', `The ${field} of a folder has at most ${maxLength} characters.`);
  if (input.length > 8 * maxLength) throw tooLong();
  const text = input.normalize('NFC');
  if (!text.isWellFormed()) {
    throw new Refusal('BAD_INPUT', `The ${field} of a folder must be well-formed Unicode.`);
  }
  if (text.length > maxLength && [...text].length > maxLength) throw tooLong();
  return text;
}

function toProperties(input: unknown): string | null {
  if (input === null) return null;
  if (typeof input !== 'object' || Array.isArray(input)) {
    throw new Refusal('BAD_INPUT', '`properties` must be a JSON object.');
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
    throw new Refusal('BAD_INPUT', '`properties` must be well-formed Unicode.');
  }
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new Refusal('BAD_INPUT', '`properties` hold a number that is too large.');
  }
  if (typeof value !== 'object' || value === null) return;
  if (levels === 0) {
    throw new Refusal(
      'BAD_INPUT',
      `\`properties\` must not be nested deeper than ${maxPropertyDepth} levels.`,
    );
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
  return new Refusal('BAD_INPUT', `\`properties\` take at most ${maxPropertyBytes} bytes as JSON.`);
}

/** Returns the name in NFC, so that names with the same letters are equal. */
export function toFolderName(input: string): string {
  // Rejects very long input before any work. NFC shortens a text at most to a quarter.
  if (input.length > 8 * maxNameLength) throw tooLong();
  const name = input.normalize('NFC');
  if (!name.isWellFormed()) throw new Refusal('BAD_INPUT', 'A folder name must be well-formed Unicode.');
  if (name === '') throw new Refusal('BAD_INPUT', 'A folder name must not be empty.');
  if ([...name].length > maxNameLength) throw tooLong();
  if (/[/\p{Cc}]/u.test(name)) {
    throw new Refusal('BAD_INPUT', 'A folder name must not hold a slash or a control character.');
  }
  return name;
}

function tooLong(): Refusal {
  return new Refusal('BAD_INPUT', `A folder name has at most ${maxNameLength} characters.`);
}

/** PostgreSQL rejects NUL in a parameter. No name contains a control character, so the replacement matches nothing either. */
export function withoutNul(text: string): string {
  return text.replaceAll('\0', '\u0001');
}
