/** `espalier user demote`: makes an administrator a regular user. */

import { userChange } from './user-change.ts';

export const demoteUser = userChange(
  { isAdministrator: false },
  {
    formatResult: (name) => `${name} is no longer an administrator. Grants now determine the access.`,
    details: 'You cannot demote yourself, so there is always an administrator.',
  },
);
