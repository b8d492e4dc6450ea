/**
 * All commands, in the order and the groups in which help shows them. A command is loaded when it is asked for: none
 * waits for what only another needs.
 */

import type { ListedCommand } from './command.ts';
import { folderCommands } from './folder/folder-commands.ts';
import { userCommands } from './user/user-commands.ts';
import { groupCommands } from './group/group-commands.ts';
import { grantCommands } from './grant/grant-commands.ts';
import { sessionCommands } from './session/session-commands.ts';
import { keysCommands } from './keys/keys-commands.ts';

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
      ...folderCommands,
      ...userCommands,
      ...groupCommands,
      ...grantCommands,
      ...sessionCommands,
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
      ...keysCommands,
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

/** Finds the command and its remaining arguments: `folder ls /x` is the command `folder ls` with `/x`. */
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

/** The commands of a group, such as `folder`. */
export function commandsBelow(word: string): readonly ListedCommand[] {
  return allCommands.filter(({ name }) => name.startsWith(`${word} `));
}
