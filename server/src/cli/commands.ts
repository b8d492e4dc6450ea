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
