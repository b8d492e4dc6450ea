/** What a folder says of itself beside its name, and what it may say. */

import { Refusal } from '../refusal.ts';

export interface FolderTexts {
  readonly title: string | null;
  readonly icon: string | null;
  readonly description: string | null;
  /** A JSON object, as text; null is the empty one. */
  readonly properties: string | null;
}

/** As given: undefined leaves it as it is, null takes it away. */
export interface GivenTexts {
  readonly title?: string | null | undefined;
  readonly icon?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly properties?: unknown;
}

const longestLine = 255;
const longestDescription = 10_000;
export const mostPropertyBytes = 16 * 1024;
const deepestProperties = 32;

/** Only what was given; an empty text is none. */
export function toTexts({ title, icon, description, properties }: GivenTexts): Partial<FolderTexts> {
  return {
    ...(title !== undefined && { title: toLine(title, 'title') }),
    ...(icon !== undefined && { icon: toLine(icon, 'icon') }),
    ...(description !== undefined && { description: toDescription(description) }),
    ...(properties !== undefined && { properties: toProperties(properties) }),
  };
}

function toLine(given: string | null, what: string): string | null {
  const text = toText(given, what, longestLine);
  if (text && /\p{Cc}/u.test(text)) {
    throw new Refusal('BAD_INPUT', `The ${what} of a folder must not hold control characters.`);
  }
  return text;
}

function toDescription(given: string | null): string | null {
  const text = toText(given, 'description', longestDescription);
  if (text && /[^\P{Cc}\n\r\t]/u.test(text)) {
    throw new Refusal(
      'BAD_INPUT',
      'A description must not hold control characters other than line ends and tabs.',
    );
  }
  return text;
}

function toText(given: string | null, what: string, longest: number): string | null {
  if (given === null || given === '') return null;
  const tooLong = () =>
    new Refusal('BAD_INPUT', `The ${what} of a folder has at most ${longest} characters.`);
  if (given.length > 8 * longest) throw tooLong();
  const text = given.normalize('NFC');
  if (!text.isWellFormed()) {
    throw new Refusal('BAD_INPUT', `The ${what} of a folder must be well-formed Unicode.`);
  }
  if (text.length > longest && [...text].length > longest) throw tooLong();
  return text;
}

function toProperties(given: unknown): string | null {
  if (given === null) return null;
  if (typeof given !== 'object' || Array.isArray(given)) {
    throw new Refusal('BAD_INPUT', '`properties` must be a JSON object.');
  }
  checkValue(given, deepestProperties, { bytes: mostPropertyBytes });
  const text = JSON.stringify(given);
  if (Buffer.byteLength(text) > mostPropertyBytes) throw tooLarge();
  return text === '{}' ? null : text;
}

/** Stops at what is too large, however large it is: every value and every key takes at least a byte. */
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
      `\`properties\` must not be nested deeper than ${deepestProperties} levels.`,
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
  return new Refusal('BAD_INPUT', `\`properties\` take at most ${mostPropertyBytes} bytes as JSON.`);
}
