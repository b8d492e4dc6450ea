/**
 * Texts of others on a terminal. A title or a message may hold what moves its cursor or turns its letters around: it is
 * spelled out.
 */

/** Control characters, ends of lines, what changes the direction of writing (Unicode UAX #9), halves of characters. */
export const obeyed = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Cs}]/gu;

/** In one line. */
export function shown(text: string): string {
  return text.replace(obeyed, (letter) => `\\u{${letter.codePointAt(0)!.toString(16)}}`);
}

/** Over several lines, where the text has them. */
export function shownLines(text: string): string {
  return text.split(/\r?\n/).map(shown).join('\n');
}
