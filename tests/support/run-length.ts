/** Lengths of random and repeated tests: `npm test` runs the short form, `npm run test:long` the long form. */

export const lengthVariable = 'ESPALIER_TEST_LENGTH';

/** Selects a number of rounds, steps or runs. A test title that contains a length shows the selected one. */
export function selectLength<Length>({ short, long }: { short: Length; long: Length }): Length {
  return process.env[lengthVariable] === 'long' ? long : short;
}
