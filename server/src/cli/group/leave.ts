/** `espalier group leave`: removes users from a group. */

import { membership } from './membership.ts';

export const leaveGroup = membership({
  field: 'removeFromGroup',
  counted: 'removed',
  formatResult: (count, group) => `Removed from ${group}: ${count}.`,
  details: 'Ignores users who are not in the group. The removed users lose the access of the group at once.',
});
