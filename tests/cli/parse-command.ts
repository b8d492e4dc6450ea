/** Finds commands and parses their arguments without running them. */

import { Command as CommanderCommand } from 'commander';
import {
  addCommand,
  loadGroup,
  prepare,
  type Command,
  type CommandInput,
} from '../../server/src/cli/command.ts';
import { allCommands, createProgram } from '../../server/src/cli/commands.ts';

export interface FoundCommand {
  /** For example `folder list`. */
  readonly name: string;
  readonly definition: Command;
  /** The words after the name. */
  readonly rest: readonly string[];
}

/** Accepts aliases, and the name of a group alone if it has a default command. */
export async function findCommand(words: readonly string[]): Promise<FoundCommand | undefined> {
  const [first, second, ...more] = words;
  const definition = await allCommands.find(({ name }) => name === first)?.load();
  if (!first || !definition) return undefined;
  if (!('commands' in definition)) return { name: first, definition, rest: words.slice(1) };
  const { commands } = await loadGroup(definition);
  const entries = Object.entries(commands);
  const matchingEntry = entries.find(
    ([verb, { aliases }]) => verb === second || aliases?.includes(second ?? ''),
  );
  if (matchingEntry)
    return { name: `${first} ${matchingEntry[0]}`, definition: matchingEntry[1], rest: more };
  const { groupDefault } = definition;
  if (groupDefault === undefined || (second !== undefined && !second.startsWith('-'))) return undefined;
  return { name: `${first} ${groupDefault}`, definition: commands[groupDefault]!, rest: words.slice(1) };
}

export function parseCommand(name: string, definition: Command, args: readonly string[]): CommandInput {
  let input: CommandInput | undefined;
  const program = prepare(new CommanderCommand('espalier'));
  const run = (parsed: CommandInput) => void (input = parsed);
  addCommand(program, 'tested', definition.about, { ...definition, run, printsWarnings: true });
  program.parse(['tested', ...args], { from: 'user' });
  if (!input) throw new Error(`espalier ${name} was not parsed.`);
  return input;
}

/** Returns the commands inside a commander command, without the groups that contain them. */
export function leavesOf(command: CommanderCommand): readonly CommanderCommand[] {
  return command.commands.length === 0 ? [command] : command.commands.flatMap(leavesOf);
}

export async function everyCommand(): Promise<readonly CommanderCommand[]> {
  return leavesOf(await createProgram());
}
