/**
 * All commands, in the groups of the help. A command or a group, for example `folder`, is loaded when it is used, so that no
 * command waits for the imports of the others.
 */

import { Command as CommanderCommand } from 'commander';
import { addCommand, examplesOf, loadGroup, prepare, type Command, type Group } from './command.ts';
import { exitCodes } from './failures.ts';
import { version } from './package-files.ts';

interface ListedCommand {
  readonly name: string;
  readonly about: string;
  readonly load: () => Promise<Command | Group>;
}

/** Requires that the module exports the definition under the name of the command. */
function lazyCommand<const Name extends string>(
  name: Name,
  about: string,
  load: () => Promise<Readonly<Record<Name, Command | Group>>>,
): ListedCommand {
  return { name, about, load: async () => (await load())[name] };
}

export const commandGroups: Readonly<Record<string, readonly ListedCommand[]>> = {
  'Run the server': [lazyCommand('serve', 'Run the server', () => import('./serve.ts'))],
  'Use a running server, as the logged-in user or with an API key': [
    lazyCommand(
      'login',
      'Log in to a server and store the session for later commands',
      () => import('./login.ts'),
    ),
    lazyCommand('logout', 'Log out and delete the stored session', () => import('./login.ts')),
    lazyCommand(
      'whoami',
      'Show the logged-in user or the API key, and the server',
      () => import('./login.ts'),
    ),
    lazyCommand(
      'folder',
      'List, create, change, move, delete, restore, import and export folders',
      () => import('./folder/folder.ts'),
    ),
    lazyCommand('user', 'List, create and change users, and set passwords', () => import('./user.ts')),
    lazyCommand('group', 'List, create and change groups of users', () => import('./group.ts')),
    lazyCommand(
      'grant',
      'List, create and delete grants, which give users and groups access to folders',
      () => import('./grant.ts'),
    ),
    lazyCommand('explain', 'Explain the access of a user to a folder', () => import('./grant.ts')),
    lazyCommand('key', 'Create, list, show and revoke API keys for programs', () => import('./key.ts')),
    lazyCommand('session', 'List, show and revoke sessions', () => import('./session.ts')),
    lazyCommand('sign-in', 'List sign-ins and failed attempts', async () => ({
      'sign-in': (await import('./sign-in.ts')).signIn,
    })),
    lazyCommand(
      'journal',
      'Show the journal of all changes, or follow it',
      () => import('./journal/journal.ts'),
    ),
    lazyCommand('query', 'Run a GraphQL query, mutation or subscription', () => import('./query.ts')),
  ],
  'Work on the database directly, with or without a running server': [
    lazyCommand('signing-key', 'List, rotate, retire and seal the keys that sign auth tokens', async () => ({
      'signing-key': (await import('./signing-key.ts')).signingKey,
    })),
    lazyCommand(
      'migrate',
      'Update the database schema, or print the missing steps as SQL',
      () => import('./migrate.ts'),
    ),
    lazyCommand('copy', 'Copy the whole installation to another database', () => import('./copy.ts')),
    lazyCommand('backup', 'Back up a SQLite database file while servers use it', () => import('./backup.ts')),
    lazyCommand(
      'restore',
      'Replace the SQLite database file with a backup while no server uses it',
      () => import('./backup.ts'),
    ),
    lazyCommand(
      'doctor',
      'Check settings, clock, database, files, TLS and a running server, and suggest fixes',
      () => import('./doctor/doctor.ts'),
    ),
  ],
  'Other commands': [
    lazyCommand('docs', 'Print a page of the documentation', () => import('./docs.ts')),
    lazyCommand('schema', 'Print the GraphQL schema', () => import('./query.ts')),
    lazyCommand('completion', 'Print a completion script for a shell', () => import('./completion.ts')),
    lazyCommand('version', 'Print the version', () => import('./completion.ts')),
  ],
};

export const allCommands = Object.values(commandGroups).flat();

/**
 * Creates the tree of commands. With the name of a command or group, defines only this one. With an unknown name, lists all names
 * without their definitions. Without a name, defines everything.
 */
export async function createProgram(name?: string, verb?: string): Promise<CommanderCommand> {
  const program = prepare(new CommanderCommand('espalier'))
    .description('Server and command line of Espalier: one shared tree of folders, with access rights.')
    .usage('<command> [options]')
    .version(version(), '-v, --version', 'Print the version');
  const isKnown = allCommands.some((each) => each.name === name);
  for (const [title, commands] of Object.entries(commandGroups)) {
    program.commandsGroup(`${title}:`);
    for (const { name: each, about, load } of commands) {
      if (name === undefined || name === each) {
        const definition = await load();
        addCommand(
          program,
          each,
          about,
          'commands' in definition ? await loadGroup(definition, verb) : definition,
        );
      } else if (!isKnown) program.command(each).description(about);
    }
  }
  // Only for the list of commands: the entry point replaces `help` with --help.
  if (name !== undefined && !isKnown) program.command('help').description('Show the help of a command');
  const more =
    "Run 'espalier <command> --help' for details about a command, and 'espalier docs' for the documentation.";
  return program.addHelpText('after', `\n${exitCodesHelp()}\n\n${more}\n${examplesOf(examples)}`);
}

export async function findGroup(name: string): Promise<Group | undefined> {
  const definition = await allCommands.find((each) => each.name === name)?.load();
  return definition && 'commands' in definition ? definition : undefined;
}

/** `espalier journal --json` means `espalier journal list --json`. For a group with one command, `--help` shows the help of this command. */
export async function findGroupDefault(name: string, isHelp: boolean): Promise<string | undefined> {
  const definition = await findGroup(name);
  if (!definition) return undefined;
  return isHelp && Object.keys(definition.commands).length > 1 ? undefined : definition.groupDefault;
}

const examples = [
  'espalier serve --demo                          # a server with sample folders',
  'espalier login --url http://127.0.0.1:8080     # then the other commands use this server',
  'espalier folder list -l /Places',
  'espalier grant create /Places write --user anna',
];

function exitCodesHelp(): string {
  const rows = Object.values(exitCodes).map(({ code, about }) => `  ${String(code).padEnd(7)}${about}`);
  return ['Exit codes:', ...rows, '  128+n  Ended by signal n, for example 130 after Ctrl-C'].join('\n');
}
