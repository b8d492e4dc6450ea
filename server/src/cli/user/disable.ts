/** `espalier user disable`: disables a user. Grants and memberships remain. */

import { userChange } from './user-change.ts';

export const disableUser = userChange(
  { isDisabled: true },
  {
    formatResult: (name) => `${name} is disabled. All sessions have ended, and the user cannot log in.`,
    details: 'The user keeps groups and grants. You cannot disable yourself.',
  },
);
