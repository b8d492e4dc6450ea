/** Passwords for people who have none yet. */

import { randomInt } from 'node:crypto';

/** Four groups of five: 98 bits, without letters that are mistaken for each other, safe in any shell and in JSON. */
export function generatePassword(): string {
  const letters = 'abcdefghijkmnpqrstuvwxyz23456789';
  const group = () => Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join('');
  return [group(), group(), group(), group()].join('-');
}
