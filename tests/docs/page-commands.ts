/** Finds the commands of the program on a page, in blocks and in text, and checks their syntax. */

import { toFlag, type Command, type ListedCommand } from '../../server/src/cli/command.ts';
import { flagsOf } from '../../server/src/config/config.ts';
import type { Block } from './page-steps.ts';

/** Returns each command from `espalier` to a pipe, a comment or the end of the line. */
export function findCommands(text: string, blocks: readonly Block[]): string[] {
  const lines = blocks
    .filter(({ language }) => language === 'sh')
    .flatMap((block) => block.text.replaceAll('\\\n', ' ').split('\n'))
    // In these lines it names a container or a database.
    .filter((line) => !/^(docker|podman|kubectl|pg_dump|pg_restore) /.test(line));
  const spans = [...text.matchAll(/`(espalier [^`\n]+)`/g)].map(([, span]) => span!);
  return [...lines, ...spans].flatMap((line) =>
    [...line.matchAll(/(?:^|[\s|(])espalier ((?:"[^"]*"|'[^']*'|[^|;&#)'"])*)/g)].map(([, command]) =>
      command!.trim(),
    ),
  );
}

/** Returns the error of a command, if there is one. */
export async function checkCommand(
  text: string,
  listed: readonly ListedCommand[],
): Promise<string | undefined> {
  const words = wordsOf(text);
  // `espalier …` and `espalier <command>` stand for any command.
  if (/^[…<-]/.test(words[0] ?? '…') || words[0] === 'help') return undefined;
  const command =
    listed.find(({ name }) => name === words.slice(0, 2).join(' ')) ??
    listed.find(({ name, isGroupDefault }) =>
      isGroupDefault ? name.split(' ')[0] === words[0] : name === words[0],
    );
  const isGroup = words.length === 1 && listed.some(({ name }) => name.split(' ')[0] === words[0]);
  if (!command) return isGroup ? undefined : 'there is no such command';
  const flags = flagNames(await command.load());
  const unknown = words
    .filter((word) => /^--?[a-z]/i.test(word))
    .find((word) => !flags.has(word.split('=')[0]!));
  return unknown === undefined ? undefined : `it takes no ${unknown}`;
}

function flagNames({ options, settings }: Command): Set<string> {
  const ofOptions = Object.entries(options).flatMap(([key, { short }]) => [
    `--${toFlag(key)}`,
    ...(short ? [`-${short}`] : []),
  ]);
  const ofSettings = settings.flatMap((setting) => flagsOf(setting).map((flag) => `--${flag}`));
  return new Set([...ofOptions, ...ofSettings, '--help', '--version']);
}

function wordsOf(text: string): string[] {
  return [...text.matchAll(/"[^"]*"|'[^']*'|\S+/g)].map(([word]) => word);
}
