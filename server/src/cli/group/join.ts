/** `espalier group join`: adds users to a group. */

import { membership } from './membership.ts';

export const joinGroup = membership({
  field: 'addToGroup',
  counted: 'added',
  formatResult: (count, group) => `Added to ${group}: ${count}.`,
  details: 'Members stay in the group. If one of the users does not exist, no user is added.',
});
