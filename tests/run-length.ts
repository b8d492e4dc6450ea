/** How long the random and repeated parts of tests are: `npm test` runs a short form, `npm run test:long` the whole. */

export const lengthVariable = 'ESPALIER_TEST_LENGTH';

/** Rounds, steps or runs. A title that names one names that of the form that runs. */
export function lengthOf<Length>({ short, long }: { short: Length; long: Length }): Length {
  return process.env[lengthVariable] === 'long' ? long : short;
}
