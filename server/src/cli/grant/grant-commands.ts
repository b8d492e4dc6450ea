/** The commands about access, in the order of help. */

import type { ListedCommand } from '../command.ts';

export const grantCommands: readonly ListedCommand[] = [
  {
    name: 'grant ls',
    about: 'Show who was given access to a folder',
    load: async () => (await import('./ls.ts')).listGrants,
  },
  {
    name: 'grant set',
    about: 'Give a user or a group access to a folder',
    load: async () => (await import('./set.ts')).setGrant,
  },
  {
    name: 'grant rm',
    about: 'Take a grant away',
    load: async () => (await import('./rm.ts')).removeGrant,
  },
  {
    name: 'explain',
    about: 'Tell what somebody may do with a folder, and why',
    load: async () => (await import('./explain.ts')).explain,
  },
];
