/**
 * Escapes text of other users for terminals and spreadsheets. A title or message can contain characters that move the cursor
 * or reverse the writing direction.
 */

/** Control characters, line separators, bidirectional controls (Unicode UAX #9) and lone surrogates. */
const controlCharacters = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/gu;

/** Escapes control characters. The result is a single line. */
export function escapeControls(text: string): string {
  return text.replace(controlCharacters, (letter) => `\\u{${letter.codePointAt(0)!.toString(16)}}`);
}

/** Formats JSON with control characters escaped, so that it parses to the same value. */
export function formatJson(value: unknown, indent?: number): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  // JSON.stringify escapes line breaks in strings, so every line break belongs to its own layout.
  return JSON.stringify(value, null, indent).replace(controlCharacters, (unit) =>
    unit === '\n' ? unit : escaped(unit),
  );
}
