/** An auth token, and a list that was read before, outlive what they refer to. */

import { Refusal } from '../../refusal.ts';

export function present<T>(found: T | undefined): T {
  if (found === undefined) throw new Refusal('NOT_FOUND', 'It no longer exists.');
  return found;
}
