/** Generates passwords for new users, in the same format as the command line. */

/** Without letters that look alike. 32 letters, so that each encodes five bits. */
const letters = 'abcdefghijkmnpqrstuvwxyz23456789';

/** Returns four groups of five letters: 100 bits. */
export function generatePassword(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(20));
  const text = Array.from(bytes, (byte) => letters[byte % letters.length]).join('');
  return text.match(/.{5}/g)!.join('-');
}
