/**
 * All commands, in the order and the groups in which help shows them. A command is loaded when it is asked for: none
 * waits for what only another needs.
 */

import type { Command } from './command.ts';

export interface ListedCommand {
  readonly name: string;
  readonly about: string;
  /** The first word of its name alone does the same: `keys` is `keys list`. */
  readonly isMeantByFirstWord?: boolean;
  readonly load: () => Promise<Command>;
}

export interface CommandGroup {
  readonly title: string;
  readonly commands: readonly ListedCommand[];
}

export const commandGroups: readonly CommandGroup[] = [
  {
    title: 'The server',
    commands: [
      { name: 'serve', about: 'Run the server', load: async () => (await import('./serve.ts')).serve },
    ],
  },
  {
    title: 'Through the API of a running server, as whoever is logged in',
    commands: [
      {
        name: 'login',
        about: 'Log in at a server, and keep the session for the commands that follow',
        load: async () => (await import('./session/login.ts')).login,
      },
      {
        name: 'logout',
        about: 'End the session, and forget it',
        load: async () => (await import('./session/logout.ts')).logout,
      },
      {
        name: 'whoami',
        about: 'Show who is logged in, and where',
        load: async () => (await import('./session/whoami.ts')).whoami,
      },
      {
        name: 'query',
        about: 'Ask the graph anything: a query, a mutation or a subscription',
        load: async () => (await import('./query.ts')).query,
      },
      {
        name: 'folder ls',
        about: 'List what is inside a folder',
        load: async () => (await import('./folder/ls.ts')).ls,
      },
      {
        name: 'folder tree',
        about: 'Draw what is inside a folder, with all levels',
        load: async () => (await import('./folder/tree.ts')).tree,
      },
      {
        name: 'folder show',
        about: 'Show all there is to know of a folder',
        load: async () => (await import('./folder/show.ts')).show,
      },
      {
        name: 'folder search',
        about: 'Find folders by their name or title',
        load: async () => (await import('./folder/search.ts')).search,
      },
      {
        name: 'folder mkdir',
        about: 'Make folders',
        load: async () => (await import('./folder/mkdir.ts')).mkdir,
      },
      {
        name: 'folder set',
        about: 'Change the name, texts and properties of a folder',
        load: async () => (await import('./folder/set.ts')).set,
      },
      {
        name: 'folder mv',
        about: 'Move or rename a folder',
        load: async () => (await import('./folder/mv.ts')).mv,
      },
      {
        name: 'folder rm',
        about: 'Delete folders',
        load: async () => (await import('./folder/rm.ts')).rm,
      },
      {
        name: 'folder trash',
        about: 'List what was deleted and can be restored',
        load: async () => (await import('./folder/trash.ts')).trash,
      },
      {
        name: 'folder restore',
        about: 'Bring a deleted folder back',
        load: async () => (await import('./folder/restore.ts')).restore,
      },
      {
        name: 'folder import',
        about: 'Make many folders at once, from a directory or a file',
        load: async () => (await import('./folder/import.ts')).importFolders,
      },
      {
        name: 'folder export',
        about: 'Write all that is inside a folder into a file',
        load: async () => (await import('./folder/export.ts')).exportFolders,
      },
      {
        name: 'folder watch',
        about: 'Follow what happens to a folder and what is inside',
        load: async () => (await import('./folder/watch.ts')).watch,
      },
      {
        name: 'user ls',
        about: 'Show who can log in',
        load: async () => (await import('./user/ls.ts')).listUsers,
      },
      {
        name: 'user show',
        about: 'Show one user',
        load: async () => (await import('./user/show.ts')).showUser,
      },
      {
        name: 'user add',
        about: 'Add somebody who can log in',
        load: async () => (await import('./user/add.ts')).addUser,
      },
      {
        name: 'user rename',
        about: 'Give a user another name',
        load: async () => (await import('./user/rename.ts')).renameUser,
      },
      {
        name: 'user disable',
        about: 'Keep a user out, with all that they have',
        load: async () => (await import('./user/disable.ts')).disableUser,
      },
      {
        name: 'user enable',
        about: 'Let a user in again',
        load: async () => (await import('./user/enable.ts')).enableUser,
      },
      {
        name: 'user promote',
        about: 'Make a user an administrator',
        load: async () => (await import('./user/promote.ts')).promoteUser,
      },
      {
        name: 'user demote',
        about: 'Make an administrator a user like others',
        load: async () => (await import('./user/demote.ts')).demoteUser,
      },
      {
        name: 'user password',
        about: 'Change your own password',
        load: async () => (await import('./user/password.ts')).changePassword,
      },
      {
        name: 'user set-password',
        about: 'Give somebody else a new password',
        load: async () => (await import('./user/set-password.ts')).setPassword,
      },
      {
        name: 'user rm',
        about: 'Delete a user',
        load: async () => (await import('./user/rm.ts')).removeUser,
      },
      {
        name: 'group ls',
        about: 'Show which groups there are',
        load: async () => (await import('./group/ls.ts')).listGroups,
      },
      {
        name: 'group show',
        about: 'Show a group with its members',
        load: async () => (await import('./group/show.ts')).showGroup,
      },
      {
        name: 'group add',
        about: 'Add a group',
        load: async () => (await import('./group/add.ts')).addGroup,
      },
      {
        name: 'group rename',
        about: 'Give a group another name',
        load: async () => (await import('./group/rename.ts')).renameGroup,
      },
      {
        name: 'group join',
        about: 'Put users into a group',
        load: async () => (await import('./group/join.ts')).joinGroup,
      },
      {
        name: 'group leave',
        about: 'Take users out of a group',
        load: async () => (await import('./group/leave.ts')).leaveGroup,
      },
      {
        name: 'group rm',
        about: 'Delete a group',
        load: async () => (await import('./group/rm.ts')).removeGroup,
      },
      {
        name: 'grant ls',
        about: 'Show who was given access to a folder',
        load: async () => (await import('./grant/ls.ts')).listGrants,
      },
      {
        name: 'grant set',
        about: 'Give a user or a group access to a folder',
        load: async () => (await import('./grant/set.ts')).setGrant,
      },
      {
        name: 'grant rm',
        about: 'Take a grant away',
        load: async () => (await import('./grant/rm.ts')).removeGrant,
      },
      {
        name: 'explain',
        about: 'Tell what somebody may do with a folder, and why',
        load: async () => (await import('./grant/explain.ts')).explain,
      },
      {
        name: 'session ls',
        about: 'Show who is logged in, with what, and since when',
        load: async () => (await import('./session/ls.ts')).listSessions,
      },
      {
        name: 'session show',
        about: 'Show a session with its refreshes',
        load: async () => (await import('./session/show.ts')).showSession,
      },
      {
        name: 'session revoke',
        about: 'End sessions at once',
        load: async () => (await import('./session/revoke.ts')).revokeSession,
      },
      {
        name: 'journal ls',
        about: 'Show what was done, by whom, and follow it',
        isMeantByFirstWord: true,
        load: async () => (await import('./journal/ls.ts')).listJournal,
      },
    ],
  },
  {
    title: 'On the database directly; a server may run or not, unless the command says otherwise',
    commands: [
      {
        name: 'user reset-password',
        about: 'Give somebody a new password, for one that is lost: of the administrator, too',
        load: async () => (await import('./user/reset-password.ts')).resetPassword,
      },
      {
        name: 'keys list',
        about: 'Show the keys that sign auth tokens',
        isMeantByFirstWord: true,
        load: async () => (await import('./keys/list.ts')).listKeys,
      },
      {
        name: 'keys rotate',
        about: 'Publish a new signing key, which signs a little later',
        load: async () => (await import('./keys/rotate.ts')).rotateKey,
      },
      {
        name: 'keys retire',
        about: 'Take a signing key away, with the tokens that it signed',
        load: async () => (await import('./keys/retire.ts')).retireKey,
      },
      {
        name: 'keys seal',
        about: 'Seal the signing keys with the master key, or with another',
        load: async () => (await import('./keys/seal.ts')).sealKeys,
      },
      {
        name: 'migrate',
        about: 'Bring the database up to date, or show what that would take',
        load: async () => (await import('./migrate.ts')).migrate,
      },
      {
        name: 'copy',
        about: 'Move everything to another database',
        load: async () => (await import('./copy.ts')).copy,
      },
      {
        name: 'backup',
        about: 'Copy a database file to another file, while servers use it',
        load: async () => (await import('./backup.ts')).backup,
      },
      {
        name: 'restore',
        about: 'Put a backup in the place of the database file; no server may run on it',
        load: async () => (await import('./restore.ts')).restore,
      },
      {
        name: 'doctor',
        about: 'Check settings, clock, database, files, TLS and a running server, and say what to do',
        load: async () => (await import('./doctor/doctor.ts')).doctor,
      },
    ],
  },
  {
    title: 'Besides',
    commands: [
      {
        name: 'schema',
        about: 'Print the graph schema',
        load: async () => (await import('./schema.ts')).printGraphSchema,
      },
      {
        name: 'completion',
        about: 'Print a script by which a shell completes commands',
        load: async () => (await import('./completion/completion.ts')).completionOf(allCommands),
      },
      {
        name: 'version',
        about: 'Print the version',
        load: async () => (await import('./version.ts')).printVersion,
      },
    ],
  },
];

export const allCommands: readonly ListedCommand[] = commandGroups.flatMap(({ commands }) => commands);

/** The command that the arguments begin with, and what is left of them: `folder ls /x` is `folder ls` of `/x`. */
export function findCommand(
  args: readonly string[],
): { found: ListedCommand; rest: readonly string[] } | undefined {
  for (const count of [2, 1]) {
    const found = allCommands.find(({ name }) => name === args.slice(0, count).join(' '));
    if (found && args.length >= count) return { found, rest: args.slice(count) };
  }
  return undefined;
}

/** What a first word alone does, with nothing behind it but flags. */
export function findMeantBy([word, next, ...more]: readonly string[]): ReturnType<typeof findCommand> {
  if (word === undefined || (next !== undefined && !next.startsWith('-'))) return undefined;
  const found = commandsBelow(word).find(({ isMeantByFirstWord }) => isMeantByFirstWord);
  return found && { found, rest: next === undefined ? [] : [next, ...more] };
}

/** What is below a word that is no command by itself, such as `folder`. */
export function commandsBelow(word: string): readonly ListedCommand[] {
  return allCommands.filter(({ name }) => name.startsWith(`${word} `));
}
