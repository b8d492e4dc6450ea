/**
 * All commands, in the groups of the help. A command, or a group of commands such as `folder`, is loaded only when it is used, so
 * that it does not wait for the imports of the others.
 */

import { Command as CommanderCommand } from 'commander';
import {
  addCommand,
  examplesOf,
  loadGroup,
  prepare,
  type Command,
  type Group,
  type LoadedGroup,
} from './command.ts';
import { exitCodes } from './failures.ts';
import { version } from './package-files.ts';

interface ListedCommand {
  readonly name: string;
  readonly about: string;
  readonly load: () => Promise<Command | Group>;
}

export const commandGroups: Readonly<Record<string, readonly ListedCommand[]>> = {
  'Run the server': [
    { name: 'serve', about: 'Run the server', load: async () => (await import('./serve.ts')).serve },
  ],
  'Use a running server, as the logged-in user': [
    {
      name: 'login',
      about: 'Log in to a server and store the session for later commands',
      load: async () => (await import('./login.ts')).login,
    },
    {
      name: 'logout',
      about: 'Log out and delete the stored session',
      load: async () => (await import('./login.ts')).logout,
    },
    {
      name: 'whoami',
      about: 'Show the logged-in user and the server',
      load: async () => (await import('./login.ts')).whoami,
    },
    {
      name: 'folder',
      about: 'List, create, change, move, import and export folders',
      load: async () => (await import('./folder/folder.ts')).folder,
    },
    {
      name: 'user',
      about: 'List, create and change users, and set passwords',
      load: async () => (await import('./user.ts')).user,
    },
    {
      name: 'group',
      about: 'List, create and change groups of users',
      load: async () => (await import('./group.ts')).group,
    },
    {
      name: 'grant',
      about: 'List, create and delete grants, which give users and groups access to folders',
      load: async () => (await import('./grant.ts')).grant,
    },
    {
      name: 'explain',
      about: 'Explain the access of a user to a folder',
      load: async () => (await import('./grant.ts')).explain,
    },
    {
      name: 'session',
      about: 'List, show and revoke sessions',
      load: async () => (await import('./session.ts')).session,
    },
    {
      name: 'journal',
      about: 'Show the journal of all changes, or follow it',
      load: async () => (await import('./journal/journal.ts')).journal,
    },
    {
      name: 'query',
      about: 'Run a GraphQL query, mutation or subscription',
      load: async () => (await import('./query.ts')).query,
    },
  ],
  'Work on the database directly, with or without a running server': [
    {
      name: 'keys',
      about: 'List, rotate, retire and seal the keys that sign auth tokens',
      load: async () => (await import('./keys.ts')).keys,
    },
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
      load: async () => (await import('./backup.ts')).restore,
    },
    {
      name: 'doctor',
      about: 'Check settings, clock, database, files, TLS and a running server, and suggest fixes',
      load: async () => (await import('./doctor/doctor.ts')).doctor,
    },
  ],
  'Other commands': [
    {
      name: 'docs',
      about: 'Print a page of the documentation',
      load: async () => (await import('./docs.ts')).docs,
    },
    {
      name: 'schema',
      about: 'Print the GraphQL schema',
      load: async () => (await import('./query.ts')).schema,
    },
    {
      name: 'completion',
      about: 'Print a completion script for a shell',
      load: async () => (await import('./completion.ts')).completion,
    },
    {
      name: 'version',
      about: 'Print the version',
      load: async () => (await import('./completion.ts')).printVersion,
    },
  ],
};

export const allCommands = Object.values(commandGroups).flat();

/** Creates the tree of commands, with the definition of one command or group, or by default of all. */
export async function createProgram(name?: string, verb?: string): Promise<CommanderCommand> {
  const program = prepare(new CommanderCommand('espalier'))
    .description('Server and command line of Espalier: one shared tree of folders, with access rights.')
    .usage('<command> [options]')
    .version(version(), '-v, --version', 'Print the version');
  for (const [title, commands] of Object.entries(commandGroups)) {
    program.commandsGroup(`${title}:`);
    for (const { name: each, about, load } of commands) {
      if (name === undefined || name === each) {
        addCommand(program, each, about, await loadDefinition(await load(), verb));
      } else program.command(each).description(about);
    }
  }
  return program.addHelpText(
    'after',
    `${examplesOf(examples)}\n\n${exitCodesHelp()}\n\nRun espalier <command> --help for details about a command.`,
  );
}

async function loadDefinition(definition: Command | Group, verb?: string): Promise<Command | LoadedGroup> {
  return 'commands' in definition ? loadGroup(definition, verb) : definition;
}

/** `espalier keys --json` is `espalier keys list --json`. */
export async function findGroupDefault(name: string): Promise<string | undefined> {
  const listed = allCommands.find((each) => each.name === name);
  const definition = await listed?.load();
  if (!definition || !('commands' in definition)) return undefined;
  return definition.groupDefault;
}

const examples = [
  'espalier serve --demo                          # a server with a demonstration tree',
  'espalier login --url http://127.0.0.1:8080     # then the other commands use this server',
  'espalier folder list -l /Places',
];

function exitCodesHelp(): string {
  const rows = Object.values(exitCodes).map(({ code, about }) => `  ${String(code).padEnd(7)}${about}`);
  return ['Exit codes:', ...rows, '  128+n  Ended by signal n, for example 130 after Ctrl-C'].join('\n');
}
