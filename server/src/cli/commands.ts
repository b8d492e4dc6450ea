/**
 * All commands, in the order and the groups in which help shows them. A command is loaded when it is asked for: none
 * waits for what only another needs.
 */

import type { Command } from './command.ts';

export interface ListedCommand {
  readonly name: string;
  readonly about: string;
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
    ],
  },
  {
    title: 'On the database directly; a server may run or not, unless the command says otherwise',
    commands: [
      {
        name: 'keys',
        about: 'List, rotate, retire and seal the signing keys',
        load: async () => (await import('./keys.ts')).keys,
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
    ],
  },
  {
    title: 'Besides',
    commands: [
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

/** What is below a word that is no command by itself, such as `folder`. */
export function commandsBelow(word: string): readonly ListedCommand[] {
  return allCommands.filter(({ name }) => name.startsWith(`${word} `));
}
