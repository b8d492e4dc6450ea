/** `espalier user disable`: disables a user. Grants and memberships remain. */

import { userChange } from './user-change.ts';

export const disableUser = userChange(
  { isDisabled: true },
  {
    tell: (name) => `${name} is disabled: the sessions are over, and no new login is possible.`,
    details: 'Groups and grants stay. Nobody can disable themself.',
  },
);
