/** `espalier user demote`: an administrator becomes a user like others. */

import { userChange } from './user-change.ts';

export const demoteUser = userChange(
  { isAdministrator: false },
  {
    tell: (name) => `${name} is no administrator: from now on grants decide.`,
    details: 'Nobody can demote themself, so there is always an administrator left.',
  },
);
