/** `espalier user promote`: makes an administrator. */

import { userChange } from './user-change.ts';

export const promoteUser = userChange(
  { isAdministrator: true },
  {
    formatResult: (name) => `${name} is an administrator.`,
    details: 'Administrators have full access, regardless of grants.',
  },
);
