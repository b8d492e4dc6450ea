/**
 * All commands, in the order and the groups of the help. A command is loaded only when it runs, so that it does not wait for the
 * imports of other commands.
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
    title: 'Through the API of a running server, as the logged-in user',
    commands: [
      {
        name: 'login',
        about: 'Log in to a server and store the session for later commands',
        load: async () => (await import('./session/login.ts')).login,
      },
      {
        name: 'logout',
        about: 'Log out and delete the stored session',
        load: async () => (await import('./session/logout.ts')).logout,
      },
      {
        name: 'whoami',
        about: 'Show the logged-in user and the server',
        load: async () => (await import('./session/whoami.ts')).whoami,
      },
      {
        name: 'query',
        about: 'Run a GraphQL query, mutation or subscription',
        load: async () => (await import('./query.ts')).query,
      },
      ...folderCommands,
      ...userCommands,
      ...groupCommands,
      ...grantCommands,
      ...sessionCommands,
      {
        name: 'journal ls',
        about: 'Show the journal of all changes, or follow it',
        isGroupDefault: true,
        load: async () => (await import('./journal/ls.ts')).listJournal,
      },
    ],
  },
  {
    title: 'Directly on the database, with or without a running server unless the command says otherwise',
    commands: [
      {
        name: 'user reset-password',
        about: 'Replace a lost password, even that of the last administrator',
        load: async () => (await import('./user/reset-password.ts')).resetPassword,
      },
      ...keysCommands,
      {
        name: 'migrate',
        about: 'Update the database schema, or print the missing steps as SQL',
        load: async () => (await import('./migrate.ts')).migrate,
      },
      {
        name: 'copy',
        about: 'Copy the whole installation to another database',
        load: async () => (await import('./copy.ts')).copy,
      },
      {
        name: 'backup',
        about: 'Back up a database file while servers use it',
        load: async () => (await import('./backup.ts')).backup,
      },
      {
        name: 'restore',
        about: 'Replace the database file with a backup; all its servers must be stopped',
        load: async () => (await import('./restore.ts')).restore,
      },
      {
        name: 'doctor',
        about: 'Check settings, clock, database, files, TLS and a running server, and suggest fixes',
        load: async () => (await import('./doctor/doctor.ts')).doctor,
      },
    ],
  },
  {
    title: 'Other commands',
    commands: [
      {
        name: 'schema',
        about: 'Print the GraphQL schema',
        load: async () => (await import('./schema.ts')).printGraphSchema,
      },
      {
        name: 'completion',
        about: 'Print a completion script for a shell',
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

/** Finds the command that a group runs without a second word: `keys --json` is `keys list --json`. */
export function findGroupDefault([word, next, ...more]: readonly string[]): ReturnType<typeof findCommand> {
  if (word === undefined || (next !== undefined && !next.startsWith('-'))) return undefined;
  const found = commandsBelow(word).find(({ isGroupDefault }) => isGroupDefault);
  return found && { found, rest: next === undefined ? [] : [next, ...more] };
}

/** The commands of a group, such as `folder`. */
export function commandsBelow(word: string): readonly ListedCommand[] {
  return allCommands.filter(({ name }) => name.startsWith(`${word} `));
}
