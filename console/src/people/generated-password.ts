/** Passwords for people who have none yet: of the same kind as those that the command line makes. */

/** Not those that are mistaken for each other; 32, so that each takes five bits. */
const letters = 'abcdefghijkmnpqrstuvwxyz23456789';

/** Four groups of five: 100 bits. */
export function generatePassword(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(20));
  const text = Array.from(bytes, (byte) => letters[byte % letters.length]).join('');
  return text.match(/.{5}/g)!.join('-');
}
