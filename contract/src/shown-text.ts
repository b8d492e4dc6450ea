/**
 * Texts of others where a terminal or a spreadsheet shows them. A title or a message may hold what moves a cursor or turns
 * letters around: it is spelled out.
 */

/** Control characters, ends of lines, what changes the direction of writing (Unicode UAX #9), halves of characters. */
const obeyed = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/gu;

/** In one line. */
export function escapeControls(text: string): string {
  return text.replace(obeyed, (letter) => `\\u{${letter.codePointAt(0)!.toString(16)}}`);
}

/** JSON that a terminal shows and does not obey; the same to whoever reads it. */
export function jsonText(value: unknown, indent?: number): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  // The ends of its own lines are the only ones in it.
  return JSON.stringify(value, null, indent).replace(obeyed, (unit) =>
    unit === '\n' ? unit : escaped(unit),
  );
}
