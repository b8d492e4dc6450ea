/**
 * The rules for the name and the texts of a folder. The server enforces them; clients use them to check an import before they send
 * it. Lengths count code points.
 */

export type FolderTextField = 'name' | 'title' | 'icon' | 'description' | 'properties';

/** A name or a text that a folder cannot have. */
export class InvalidFolderTextError extends Error {
  override readonly name = 'InvalidFolderTextError';
  readonly field: FolderTextField;

  constructor(field: FolderTextField, message: string) {
    super(message);
    this.field = field;
  }
}

/** The texts of a folder as the server stores them. */
export interface FolderTexts {
  readonly title: string | null;
  readonly icon: string | null;
  readonly description: string | null;
  /** A JSON object as text; null for the empty object. */
  readonly properties: string | null;
}

/** Undefined keeps a text; null removes it. */
export interface FolderTextsInput {
  readonly title?: string | null | undefined;
  readonly icon?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly properties?: unknown;
}

export const maxFolderNameLength = 255;
const maxLineLength = 255;
const maxDescriptionLength = 10_000;
export const maxFolderPropertyBytes = 16 * 1024;
const maxPropertyDepth = 32;

/** Returns only the texts in the input. An empty text becomes null. */
export function checkFolderTexts({
  title,
  icon,
  description,
  properties,
}: FolderTextsInput): Partial<FolderTexts> {
  return {
    ...(title !== undefined && { title: toLine(title, 'title') }),
    ...(icon !== undefined && { icon: toLine(icon, 'icon') }),
    ...(description !== undefined && { description: toDescription(description) }),
    ...(properties !== undefined && { properties: toProperties(properties) }),
  };
}

function toLine(input: string | null, field: FolderTextField): string | null {
  const text = toText(input, field, maxLineLength);
  if (text && /\p{Cc}/u.test(text)) {
    throw new InvalidFolderTextError(field, `The ${field} of a folder must not contain control characters.`);
  }
  return text;
}

function toDescription(input: string | null): string | null {
  const text = toText(input, 'description', maxDescriptionLength);
  if (text && /[^\P{Cc}\n\r\t]/u.test(text)) {
    throw new InvalidFolderTextError(
      'description',
      'A description must not contain control characters other than line ends and tabs.',
    );
  }
  return text;
}

function toText(input: string | null, field: FolderTextField, maxLength: number): string | null {
  if (input === null || input === '') return null;
  const createTooLongError = () =>
    new InvalidFolderTextError(field, `The ${field} of a folder has at most ${maxLength} characters.`);
  if (input.length > 8 * maxLength) throw createTooLongError();
  const text = input.normalize('NFC');
  if (!text.isWellFormed())
    throw new InvalidFolderTextError(field, `The ${field} of a folder must be well-formed Unicode.`);
  if (text.length > maxLength && [...text].length > maxLength) throw createTooLongError();
  return text;
}

function toProperties(input: unknown): string | null {
  if (input === null) return null;
  if (typeof input !== 'object' || Array.isArray(input)) {
    throw new InvalidFolderTextError('properties', '`properties` must be a JSON object.');
  }
  checkValue(input, maxPropertyDepth, { bytes: maxFolderPropertyBytes });
  const text = JSON.stringify(input);
  // A UTF-16 unit takes at most three bytes.
  if (3 * text.length > maxFolderPropertyBytes && countBytes(text) > maxFolderPropertyBytes)
    throw createTooLargeError();
  return text === '{}' ? null : text;
}

/** Stops early for large values: every value and every key takes at least one byte. */
function checkValue(value: unknown, levels: number, left: { bytes: number }): void {
  left.bytes -= typeof value === 'string' ? value.length + 2 : 1;
  if (left.bytes < 0) throw createTooLargeError();
  if (typeof value === 'string' && !value.isWellFormed()) {
    throw new InvalidFolderTextError('properties', '`properties` must be well-formed Unicode.');
  }
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new InvalidFolderTextError(
      'properties',
      '`properties` must not contain a number that is too large.',
    );
  }
  if (typeof value !== 'object' || value === null) return;
  if (levels === 0) {
    throw new InvalidFolderTextError(
      'properties',
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

/** The number of bytes in UTF-8. */
function countBytes(text: string): number {
  return new TextEncoder().encode(text).length;
}

function createTooLargeError(): InvalidFolderTextError {
  return new InvalidFolderTextError(
    'properties',
    `\`properties\` take at most ${maxFolderPropertyBytes} bytes as JSON.`,
  );
}

/** Returns the name in NFC, so that names with the same letters are equal. */
export function checkFolderName(input: string): string {
  // Rejects very long input before any work. NFC never shortens a text to less than a quarter of its length.
  if (input.length > 8 * maxFolderNameLength) throw createTooLongError();
  const name = input.normalize('NFC');
  if (!name.isWellFormed())
    throw new InvalidFolderTextError('name', 'A folder name must be well-formed Unicode.');
  if (name === '') throw new InvalidFolderTextError('name', 'A folder name must not be empty.');
  if (name.length > maxFolderNameLength && [...name].length > maxFolderNameLength) throw createTooLongError();
  if (/[/\p{Cc}]/u.test(name))
    throw new InvalidFolderTextError(
      'name',
      'A folder name must not contain a slash or a control character.',
    );
  return name;
}

function createTooLongError(): InvalidFolderTextError {
  return new InvalidFolderTextError('name', `A folder name has at most ${maxFolderNameLength} characters.`);
}
