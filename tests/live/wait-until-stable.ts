/** Waits until a value has stopped growing, and returns it. */

import { eventually } from '../support/eventually.ts';

const stableChecks = 40;

export async function waitUntilStable(value: () => number): Promise<number> {
  let [last, same] = [-1, 0];
  await eventually(() => {
    same = value() === last ? same + 1 : 0;
    last = value();
    return same === stableChecks;
  }, 'it stops growing');
  return last;
}
