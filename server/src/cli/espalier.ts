/** The entry point of the command line: runs a command, and turns an error into one line and an exit code. */

import type { Command } from 'commander';
import type * as Commands from './commands.ts';
import { formatJson } from '@espalier/contract/escaped-text';
import { flagsOf } from '../config/read-setting.ts';
import { commandLineSettings } from '../config/command-line.ts';
import { describeFailure } from './failures.ts';
import { version } from './package-files.ts';
import { ignoreOutputErrors, print } from './terminal/output.ts';
import { hasPrinted } from './usage-error.ts';

export async function main(args: readonly string[]): Promise<void> {
  ignoreOutputErrors();
  try {
    await run(args);
  } catch (error) {
    const { exitCode, code, message, requestId } = describeFailure(error);
    if (message !== undefined) {
      const isJson = flagsIn(args).includes('--json');
      console.error(isJson ? formatJson({ error: { code, message, requestId } }) : `espalier: ${message}`);
    }
    process.exitCode = exitCode;
  }
}

async function run(input: readonly string[]): Promise<void> {
  if (input[0] === '__complete') {
    const { complete } = await import('./completion.ts');
    await print((await complete(input.slice(1))).join('\n'));
    return;
  }
  // The version is available without loading the commands.
  if (input.length === 1 && /^(-v|--version)$/.test(input[0]!)) return print(version());
  const { createProgram, ...groups } = await import('./commands.ts');
  const args = await resolveWords(moveFlagsToEnd(input), groups);
  const program = await createProgram(args[0], args[1]);
  try {
    await program.parseAsync(untilUnknownCommand(program, args), { from: 'user' });
  } catch (error) {
    if (!hasPrinted(error as { code?: unknown })) throw error;
  }
}

/** `espalier --profile a folder list` means `espalier folder list --profile a`. */
function moveFlagsToEnd(args: readonly string[]): readonly string[] {
  const names = Object.values(commandLineSettings)
    .flatMap(flagsOf)
    .map((flag) => `--${flag}`);
  const rest = [...args];
  const flags: string[] = [];
  for (let [first = ''] = rest; names.includes(first.split('=', 1)[0]!); [first = ''] = rest) {
    flags.push(...rest.splice(0, first.includes('=') ? 1 : 2));
  }
  const end = rest.indexOf('--');
  return end < 0 ? [...rest, ...flags] : [...rest.slice(0, end), ...flags, ...rest.slice(end)];
}

/** `help folder list` and `folder help list` mean `folder list --help`, and `journal` means `journal list`. */
async function resolveWords(
  input: readonly string[],
  groups: Pick<typeof Commands, 'findGroup' | 'findGroupDefault'>,
): Promise<readonly string[]> {
  const args = input[0] === 'help' ? [...input.slice(1), '--help'] : input;
  const [first, second, ...rest] = args;
  if (first === undefined) return ['--help'];
  if (second === 'help' && (await groups.findGroup(first))) {
    return resolveWords([first, ...rest, '--help'], groups);
  }
  if (second !== undefined && !second.startsWith('-')) return args;
  const byDefault = await groups.findGroupDefault(first, /^(-h|--help)$/.test(second ?? ''));
  return byDefault === undefined
    ? args
    : [first, byDefault, ...(second === undefined ? [] : [second, ...rest])];
}

/**
 * Removes everything after an unknown command, so that commander reports the command. With `--help` after it, commander would
 * otherwise print the help of all commands.
 */
function untilUnknownCommand(program: Command, args: readonly string[]): readonly string[] {
  let known = program;
  for (const [index, word] of args.entries()) {
    if (word.startsWith('-') || known.commands.length === 0) break;
    const found = known.commands.find((each) => each.name() === word || each.aliases().includes(word));
    if (!found) return args.slice(0, index + 1);
    known = found;
  }
  return args;
}

function flagsIn(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--');
  return end < 0 ? args : args.slice(0, end);
}
