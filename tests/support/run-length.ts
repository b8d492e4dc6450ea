/** Lengths of random and repeated tests: `npm test` runs the short form, and `npm run test:long` runs the long form. */

export const lengthVariable = 'ESPALIER_TEST_LENGTH';

/** Selects a number of rounds, steps or runs. If a test title contains the number, show the selected one. */
export function selectLength<Length>({ short, long }: { short: Length; long: Length }): Length {
  return process.env[lengthVariable] === 'long' ? long : short;
}
