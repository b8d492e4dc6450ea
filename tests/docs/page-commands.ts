/** Finds the commands of the program on a page, in blocks and in text, and checks their syntax. */

import type { Command } from 'commander';
import type { Block } from './page-steps.ts';

/** Returns each command from `espalier` to a pipe, a comment or the end of the line. */
export function findCommands(text: string, blocks: readonly Block[]): string[] {
  const lines = blocks
    .filter(({ language }) => language === 'sh')
    .flatMap((block) => block.text.replaceAll('\\\n', ' ').split('\n'))
    // In these lines, `espalier` is the name of a container or a database.
    .filter((line) => !/^(docker|podman|kubectl|pg_dump|pg_restore) /.test(line));
  const spans = [...text.matchAll(/`(espalier [^`\n]+)`/g)].map(([, span]) => span!);
  return [...lines, ...spans].flatMap((line) =>
    [...line.matchAll(/(?:^|[\s|(])espalier ((?:"[^"]*"|'[^']*'|[^|;&#)'"])*)/g)].map(([, command]) =>
      command!.trim(),
    ),
  );
}

/** Returns the error of a command, if there is one. */
export function checkCommand(text: string, program: Command): string | undefined {
  const words = wordsOf(text);
  // `espalier …` and `espalier <command>` stand for any command.
  if (/^[…<-]/.test(words[0] ?? '…') || words[0] === 'help') return undefined;
  const command = findCommand(program, words);
  if (!command) return 'this command does not exist';
  const flags = new Set(command.options.flatMap(({ long, short }) => [long, short]));
  const unknown = words
    .map((word) => word.split('=')[0]!)
    .find((word) => /^--?[a-z]/i.test(word) && !flags.has(word) && !['--help', '--version'].includes(word));
  return unknown === undefined ? undefined : `the command has no flag ${unknown}`;
}

/** Accepts aliases. A group may be named alone. With flags, it stands for its default command `list`. */
function findCommand(parent: Command, [word, ...rest]: readonly string[]): Command | undefined {
  const found = parent.commands.find((each) => each.name() === word || each.aliases().includes(word ?? ''));
  if (!found || found.commands.length === 0 || rest.length === 0) return found;
  return findCommand(found, rest[0]!.startsWith('-') ? ['list'] : rest);
}

function wordsOf(text: string): string[] {
  return [...text.matchAll(/"[^"]*"|'[^']*'|\S+/g)].map(([word]) => word);
}
