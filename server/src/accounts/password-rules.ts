/**
 * Which passwords may be set: long enough and not among the first that anybody would guess (NIST SP 800-63B §3.1.1.2).
 * Never asked at a login, and never repeats a password in a refusal.
 */

import { Refusal } from '../refusal.ts';
import { accountNameKey } from './account-name.ts';

const shortestPassword = 8;
const longestPassword = 128;
const refusedAsCommon = 10_000;

export async function requireGoodPassword(given: string, username: string): Promise<void> {
  // Before any work on it: a text of any length could stand there.
  if (given.length > 8 * longestPassword) throw wrongLength();
  if (!given.isWellFormed()) throw new Refusal('BAD_INPUT', 'A password must be well-formed Unicode.');
  const password = given.normalize('NFC');
  const length = [...password].length;
  if (length < shortestPassword || length > longestPassword) throw wrongLength();
  const folded = password.toLowerCase();
  if (folded === accountNameKey(username.normalize('NFC'))) {
    throw new Refusal('BAD_INPUT', 'The password must not be the user name.');
  }
  if (isSimple(folded) || (await isCommon(folded))) {
    throw new Refusal('BAD_INPUT', 'This password is one of the most common ones. Choose another.');
  }
}

function wrongLength(): Refusal {
  return new Refusal(
    'BAD_INPUT',
    `A password has ${shortestPassword} to ${longestPassword} characters, of any kind.`,
  );
}

/** A few letters or digits over and over, or in a row: as common, but the list leaves out what a rule can tell. */
function isSimple(folded: string): boolean {
  if (!/^[a-z\d]{8,12}$/.test(folded)) return false;
  if (/^(.{1,4})\1+$/.test(folded)) return true;
  const codes = Array.from(folded, (letter) => letter.codePointAt(0)!);
  const isRow = (step: number) =>
    codes.every((code, place) => place === 0 || code - codes[place - 1]! === step);
  return isRow(1) || isRow(-1);
}

/** The list is large and seldom needed: it is loaded when somebody first sets a password. */
async function isCommon(folded: string): Promise<boolean> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  // The most common first, in lower case. Those that are too short anyway do not count.
  return dictionary['passwords-common']
    .filter(({ length }) => length >= shortestPassword)
    .slice(0, refusedAsCommon)
    .includes(folded);
}
