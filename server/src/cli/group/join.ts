/** `espalier group join`: puts users into a group. */

import { membership } from './membership.ts';

export const joinGroup = membership({
  field: 'addToGroup',
  counted: 'added',
  tell: (count, group) => `Added to ${group}: ${count}.`,
  details: 'Whoever is in the group already stays there. If one of them does not exist, nobody is added.',
});
