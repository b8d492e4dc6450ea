/** The entry point of the command line: runs a command, and turns an error into one line and an exit code. */

import { flagName, findPasswordFlagWarnings } from '../config/config.ts';
import { nearestName } from '../config/nearest-name.ts';
import { UsageError } from '../config/start-error.ts';
import { commandLineSettings } from '../config/server-settings.ts';
import { commandHelp, readInput, type ListedCommand } from './command.ts';
import { allCommands, commandGroups, commandsBelow, findCommand, findGroupDefault } from './commands.ts';
import { describeFailure, exitCodes } from './failures.ts';
import { ignoreOutputErrors, print } from './terminal/output.ts';
import { version } from './version.ts';

export async function main(args: string[]): Promise<void> {
  ignoreOutputErrors();
  try {
    await run(args);
  } catch (error) {
    const { exitCode, message } = describeFailure(error);
    if (message !== undefined) console.error(`espalier: ${message}`);
    process.exitCode = exitCode;
  }
}

async function run(input: readonly string[]): Promise<void> {
  const args = moveFlagsToEnd(input);
  const end = args.indexOf('--');
  const flags = end < 0 ? args : args.slice(0, end);
  const hasFlag = (...names: string[]) => names.some((name) => flags.includes(name));
  const isHelp = args[0] === 'help';
  const words = isHelp ? args.slice(1) : args;
  const command = findCommand(words);
  if (args.length === 0 || isHelp || hasFlag('--help', '-h')) {
    await print(command ? await helpOf(command.found) : overview(words[0]));
  } else if (hasFlag('--version', '-v')) {
    await print(version());
  } else {
    const { found, rest } = command ?? findGroupDefault(args) ?? noSuchCommand(args);
    const loaded = await found.load();
    const read = readInput(found.name, loaded, rest);
    // `serve` and `doctor` print this with their other warnings.
    if (found.name !== 'serve' && found.name !== 'doctor') {
      findPasswordFlagWarnings(read.flags).forEach((text) => console.error(`espalier: warning: ${text}`));
    }
    await loaded.run(read as never);
  }
}

/** `espalier --profile a folder ls` is `espalier folder ls --profile a`. */
function moveFlagsToEnd(args: readonly string[]): readonly string[] {
  const names = Object.values(commandLineSettings).map((each) => `--${flagName(each)}`);
  const rest = [...args];
  const flags: string[] = [];
  for (let [first = ''] = rest; names.includes(first.split('=', 1)[0]!); [first = ''] = rest) {
    flags.push(...rest.splice(0, first.includes('=') ? 1 : 2));
  }
  const end = rest.indexOf('--');
  return end < 0 ? [...rest, ...flags] : [...rest.slice(0, end), ...flags, ...rest.slice(end)];
}

async function helpOf({ name, about, load }: ListedCommand): Promise<string> {
  return commandHelp(name, about, await load());
}

function noSuchCommand([first = '', second]: readonly string[]): never {
  const below = commandsBelow(first);
  if (below.length > 0) {
    const names = below.map(({ name }) => name.slice(first.length + 1));
    const list = `${names.slice(0, -1).join(', ')}${names.length > 1 ? ' and ' : ''}${names.at(-1)}`;
    const isWord = second !== undefined && !second.startsWith('-');
    const meant = isWord ? nearestName(second, names) : undefined;
    const hint = meant ? `Did you mean ${meant}? ` : '';
    const wrong = isWord ? `There is no command ${first} ${second}. ${hint}` : '';
    throw new UsageError(
      `${wrong}The commands of espalier ${first} are ${list}. Run espalier ${first} --help for details.`,
    );
  }
  const meant = nearestName(first, [...new Set(allCommands.map(({ name }) => name.split(' ', 1)[0]!))]);
  throw new UsageError(
    `There is no command ${first}.${meant ? ` Did you mean ${meant}?` : ''} Run espalier help for a list.`,
  );
}

/** The help of all commands, or of one group. */
function overview(word: string | undefined): string {
  const below = word === undefined ? [] : commandsBelow(word);
  const groups = commandGroups.map(({ title, commands }) => ({
    title,
    commands: below.length === 0 ? commands : commands.filter((command) => below.includes(command)),
  }));
  const width = Math.max(...groups.flatMap(({ commands }) => commands).map(({ name }) => name.length)) + 2;
  const listing = groups
    .filter(({ commands }) => commands.length > 0)
    .map(({ title, commands }) =>
      [`${title}:`, ...commands.map(({ name, about }) => `  ${name.padEnd(width)}${about}`)].join('\n'),
    );
  return [
    `Usage: espalier ${below.length > 0 ? `${word} ` : ''}<command> [flags]`,
    ...listing,
    `Run espalier <command> --help for details about a command.`,
    ...(below.length > 0 ? [] : [exitCodesHelp()]),
  ].join('\n\n');
}

function exitCodesHelp(): string {
  const rows = Object.values(exitCodes).map(({ code, about }) => `  ${String(code).padEnd(7)}${about}`);
  return ['Exit codes:', ...rows, '  128+n  Ended by signal n, for example 130 after Ctrl-C'].join('\n');
}
