/** `espalier user promote`: makes an administrator. */

import { userChange } from './user-change.ts';

export const promoteUser = userChange(
  { isAdministrator: true },
  {
    tell: (name) => `${name} is an administrator.`,
    details: 'Administrators see and do everything, whatever grants say.',
  },
);
