/**
 * Texts of others on a terminal. A title or a message may hold what a terminal obeys, or what turns the rest of a line
 * around: it is shown, never sent.
 */

/** Controls, ends of lines, marks that change the direction of writing, and halves of characters. */
const obeyed = /[\p{Cc}\u2028-\u202e\u2066-\u2069\p{Cs}]/gu;
const named: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** In one line. */
export function shown(text: string): string {
  return text.replace(obeyed, (character) => named[character] ?? escaped(character));
}

/** Over several lines, where the text has them. */
export function shownLines(text: string): string {
  return text.split(/\r?\n/).map(shown).join('\n');
}

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`;
}
