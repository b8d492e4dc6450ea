/** The commands about access, in the order of help. */

import type { ListedCommand } from '../command.ts';

export const grantCommands: readonly ListedCommand[] = [
  {
    name: 'grant ls',
    about: 'List the grants on a folder',
    load: async () => (await import('./ls.ts')).listGrants,
  },
  {
    name: 'grant set',
    about: 'Grant a user or a group access to a folder',
    load: async () => (await import('./set.ts')).setGrant,
  },
  {
    name: 'grant rm',
    about: 'Remove a grant',
    load: async () => (await import('./rm.ts')).removeGrant,
  },
  {
    name: 'explain',
    about: 'Explain the access of a user to a folder',
    load: async () => (await import('./explain.ts')).explain,
  },
];
