/** The command line: finds the command, and turns what stops it into one line and an exit code. */

import { nearestName } from '../nearest-name.ts';
import { StartError, UsageError } from '../start-error.ts';
import { copy, copyHelp } from './copy.ts';
import { keys, keysHelp } from './keys.ts';
import { migrate, migrateHelp } from './migrate.ts';
import { serve, serveHelp } from './serve.ts';
import { version } from './version.ts';

interface Command {
  readonly about: string;
  readonly help: () => string;
  readonly run: (args: string[]) => Promise<void> | void;
}

const commands: Readonly<Record<string, Command>> = {
  serve: { about: 'Run the server', help: serveHelp, run: serve },
  keys: { about: 'List, rotate, retire and seal the signing keys', help: keysHelp, run: keys },
  migrate: { about: 'Bring the database up to date', help: migrateHelp, run: migrate },
  copy: { about: 'Move everything to another database', help: copyHelp, run: copy },
  version: {
    about: 'Print the version',
    help: () => 'Usage: espalier version\n\nPrints the version.',
    run: () => console.log(version()),
  },
};

/** Wrong usage exits with 2, whatever else stops a command with 1. */
export async function main(args: string[]): Promise<void> {
  // Whoever reads what is printed may leave: no reason to stop in the middle of something.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  try {
    await run(args);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    console.error(`espalier: ${error.message}`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}

async function run([name = 'help', ...args]: string[]): Promise<void> {
  const asks = (...flags: string[]) => [name, ...args].some((argument) => flags.includes(argument));
  if (asks('--version', '-v')) {
    console.log(version());
  } else if (name === 'help' || asks('--help', '-h')) {
    const about = [name, ...args].find((argument) => Object.hasOwn(commands, argument));
    console.log(about ? commands[about]!.help() : overview());
  } else if (Object.hasOwn(commands, name)) {
    await commands[name]!.run(args);
  } else {
    const meant = nearestName(name, Object.keys(commands));
    const hint = meant ? ` Did you mean ${meant}?` : '';
    throw new UsageError(`There is no command ${name}.${hint} espalier help lists them.`);
  }
}

function overview(): string {
  const rows = Object.entries(commands).map(([name, { about }]) => `  ${name.padEnd(10)}${about}`);
  return [
    'Usage: espalier <command> [flags]',
    '',
    ...rows,
    '',
    'espalier <command> --help tells more about a command.',
  ].join('\n');
}
