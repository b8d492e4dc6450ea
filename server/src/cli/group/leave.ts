/** `espalier group leave`: takes users out of a group. */

import { membership } from './membership.ts';

export const leaveGroup = membership({
  field: 'removeFromGroup',
  counted: 'removed',
  tell: (count, group) => `Removed from ${group}: ${count}.`,
  details: 'Whoever is not in the group is passed over. What the group was granted is over for them at once.',
});
