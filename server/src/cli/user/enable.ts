/** `espalier user enable`: enables a disabled user. */

import { userChange } from './user-change.ts';

export const enableUser = userChange(
  { isDisabled: false },
  { formatResult: (name) => `${name} is enabled and can log in.` },
);
