/** The commands about users, in the order of help. */

import type { ListedCommand } from '../command.ts';

export const userCommands: readonly ListedCommand[] = [
  {
    name: 'user ls',
    about: 'Show who can log in',
    load: async () => (await import('./ls.ts')).listUsers,
  },
  {
    name: 'user show',
    about: 'Show one user',
    load: async () => (await import('./show.ts')).showUser,
  },
  {
    name: 'user add',
    about: 'Add somebody who can log in',
    load: async () => (await import('./add.ts')).addUser,
  },
  {
    name: 'user rename',
    about: 'Give a user another name',
    load: async () => (await import('./rename.ts')).renameUser,
  },
  {
    name: 'user disable',
    about: 'Keep a user out, with all that they have',
    load: async () => (await import('./disable.ts')).disableUser,
  },
  {
    name: 'user enable',
    about: 'Let a user in again',
    load: async () => (await import('./enable.ts')).enableUser,
  },
  {
    name: 'user promote',
    about: 'Make a user an administrator',
    load: async () => (await import('./promote.ts')).promoteUser,
  },
  {
    name: 'user demote',
    about: 'Make an administrator a user like others',
    load: async () => (await import('./demote.ts')).demoteUser,
  },
  {
    name: 'user password',
    about: 'Change your own password',
    load: async () => (await import('./password.ts')).changePassword,
  },
  {
    name: 'user set-password',
    about: 'Give somebody else a new password',
    load: async () => (await import('./set-password.ts')).setPassword,
  },
  {
    name: 'user rm',
    about: 'Delete a user',
    load: async () => (await import('./rm.ts')).removeUser,
  },
];
