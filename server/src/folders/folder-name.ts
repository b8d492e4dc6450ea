/** What a folder may be called. */

import { Refusal } from '../refusal.ts';

export const longestName = 255;

/** The name as it is kept: composed (NFC), so that the same letters are the same name. Lengths count code points. */
export function toFolderName(given: string): string {
  // Before any work on it: composing makes a name at most four times as short.
  if (given.length > 8 * longestName) throw tooLong();
  const name = given.normalize('NFC');
  if (!name.isWellFormed()) throw new Refusal('BAD_INPUT', 'A folder name must be well-formed Unicode.');
  if (name === '') throw new Refusal('BAD_INPUT', 'A folder name must not be empty.');
  if ([...name].length > longestName) throw tooLong();
  if (/[/\p{Cc}]/u.test(name)) {
    throw new Refusal('BAD_INPUT', 'A folder name must not hold a slash or a control character.');
  }
  return name;
}

function tooLong(): Refusal {
  return new Refusal('BAD_INPUT', `A folder name has at most ${longestName} characters.`);
}

/** A text that is looked for as it can be asked of any database. No name holds a control character, this or another. */
export function withoutNul(text: string): string {
  return text.replaceAll('\0', '\u0001');
}
