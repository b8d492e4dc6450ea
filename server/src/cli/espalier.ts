/** The command line: finds the command, and turns what stops it into one line and an exit code. */

import { nearestName } from '../nearest-name.ts';
import { StartError, UsageError } from '../start-error.ts';
import { serve, serveHelp } from './serve.ts';
import { version } from './version.ts';

interface Command {
  readonly about: string;
  readonly help: () => string;
  readonly run: (args: string[]) => Promise<void> | void;
}

const commands: Readonly<Record<string, Command>> = {
  serve: { about: 'Run the server', help: serveHelp, run: serve },
  version: {
    about: 'Print the version',
    help: () => 'Usage: espalier version\n\nPrints the version.',
    run: () => console.log(version()),
  },
};

/** Wrong usage exits with 2, whatever else stops a command with 1. */
export async function main(args: string[]): Promise<void> {
  const [name = 'help', ...rest] = args;
  try {
    if (name === '--version' || name === '-v') console.log(version());
    else if (name === 'help' || name === '--help' || name === '-h') console.log(overview());
    else await run(name, rest);
  } catch (error) {
    if (!(error instanceof StartError)) throw error;
    console.error(`espalier: ${error.message}`);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}

async function run(name: string, args: string[]): Promise<void> {
  const command = commands[name];
  if (!command) {
    const meant = nearestName(name, Object.keys(commands));
    throw new UsageError(
      `There is no command ${name}.${meant ? ` Did you mean ${meant}?` : ''} espalier help lists them.`,
    );
  } else if (args.includes('--help') || args.includes('-h')) {
    console.log(command.help());
  } else {
    await command.run(args);
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
