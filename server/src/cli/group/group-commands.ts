/** The commands about groups, in the order of help. */

import type { ListedCommand } from '../command.ts';

export const groupCommands: readonly ListedCommand[] = [
  {
    name: 'group ls',
    about: 'List the groups',
    load: async () => (await import('./ls.ts')).listGroups,
  },
  {
    name: 'group show',
    about: 'Show a group with its members',
    load: async () => (await import('./show.ts')).showGroup,
  },
  {
    name: 'group add',
    about: 'Add a group',
    load: async () => (await import('./add.ts')).addGroup,
  },
  {
    name: 'group rename',
    about: 'Rename a group',
    load: async () => (await import('./rename.ts')).renameGroup,
  },
  {
    name: 'group join',
    about: 'Add users to a group',
    load: async () => (await import('./join.ts')).joinGroup,
  },
  {
    name: 'group leave',
    about: 'Remove users from a group',
    load: async () => (await import('./leave.ts')).leaveGroup,
  },
  {
    name: 'group rm',
    about: 'Delete a group',
    load: async () => (await import('./rm.ts')).removeGroup,
  },
];
