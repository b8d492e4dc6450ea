/** `espalier user enable`: lets somebody in again. */

import { userChange } from './user-change.ts';

export const enableUser = userChange(
  { isDisabled: false },
  { tell: (name) => `${name} is enabled, and can log in.` },
);
