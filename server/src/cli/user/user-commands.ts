/** The commands about users, in the order of help. */

import type { ListedCommand } from '../command.ts';

export const userCommands: readonly ListedCommand[] = [
  {
    name: 'user ls',
    about: 'List the users',
    load: async () => (await import('./ls.ts')).listUsers,
  },
  {
    name: 'user show',
    about: 'Show a user',
    load: async () => (await import('./show.ts')).showUser,
  },
  {
    name: 'user add',
    about: 'Add a user',
    load: async () => (await import('./add.ts')).addUser,
  },
  {
    name: 'user rename',
    about: 'Rename a user',
    load: async () => (await import('./rename.ts')).renameUser,
  },
  {
    name: 'user disable',
    about: 'Disable a user, who keeps groups and grants',
    load: async () => (await import('./disable.ts')).disableUser,
  },
  {
    name: 'user enable',
    about: 'Enable a disabled user',
    load: async () => (await import('./enable.ts')).enableUser,
  },
  {
    name: 'user promote',
    about: 'Make a user an administrator',
    load: async () => (await import('./promote.ts')).promoteUser,
  },
  {
    name: 'user demote',
    about: 'Make an administrator a regular user',
    load: async () => (await import('./demote.ts')).demoteUser,
  },
  {
    name: 'user password',
    about: 'Change your own password',
    load: async () => (await import('./password.ts')).changePassword,
  },
  {
    name: 'user set-password',
    about: 'Set the password of another user',
    load: async () => (await import('./set-password.ts')).setPassword,
  },
  {
    name: 'user rm',
    about: 'Delete a user',
    load: async () => (await import('./rm.ts')).removeUser,
  },
];
