/** The commands about groups, in the order of help. */

import type { ListedCommand } from '../command.ts';

export const groupCommands: readonly ListedCommand[] = [
  {
    name: 'group ls',
    about: 'Show which groups there are',
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
    about: 'Give a group another name',
    load: async () => (await import('./rename.ts')).renameGroup,
  },
  {
    name: 'group join',
    about: 'Put users into a group',
    load: async () => (await import('./join.ts')).joinGroup,
  },
  {
    name: 'group leave',
    about: 'Take users out of a group',
    load: async () => (await import('./leave.ts')).leaveGroup,
  },
  {
    name: 'group rm',
    about: 'Delete a group',
    load: async () => (await import('./rm.ts')).removeGroup,
  },
];
