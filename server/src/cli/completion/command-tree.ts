/** The words that can be typed, for the completion scripts of all shells. It is derived from the table of commands. */

import { flagsOf } from '../../config/config.ts';
import { toFlag, type Completes, type ListedCommand, type Word } from '../command.ts';

export interface CompletedFlag {
  readonly name: string;
  readonly about: string;
  readonly short: string | undefined;
  /** The placeholder of the value in help; undefined for a switch. */
  readonly value: string | undefined;
  readonly isRepeatable: boolean;
  readonly completes: Completes | undefined;
}

export interface CompletedCommand {
  /** One or two words, such as `user add`. */
  readonly name: string;
  readonly about: string;
  readonly flags: readonly CompletedFlag[];
  readonly words: readonly Word[];
}

/** The words that can follow: the first words at the start, the second words after `user`. */
export interface Choice {
  readonly word: string;
  readonly about: string;
}

export interface CommandTree {
  readonly commands: readonly CompletedCommand[];
  readonly firstWords: readonly Choice[];
  /** By the first word. */
  readonly secondWords: ReadonlyMap<string, readonly Choice[]>;
}

const help: CompletedFlag = {
  name: 'help',
  about: 'Show the help of the command',
  short: 'h',
  value: undefined,
  isRepeatable: false,
  completes: undefined,
};

export async function readCommandTree(listed: readonly ListedCommand[]): Promise<CommandTree> {
  const commands = await Promise.all(listed.map(readCommand));
  const groupDefaults = commands.filter((_, index) => listed[index]!.isGroupDefault);
  const firstWords: Choice[] = [];
  const secondWords = new Map<string, Choice[]>();
  for (const { name, about } of commands) {
    const [first, second] = name.split(' ') as [string, string?];
    const below = secondWords.get(first);
    if (second === undefined) firstWords.push({ word: first, about });
    else if (below) below.push({ word: second, about });
    else secondWords.set(first, [{ word: second, about }]);
  }
  for (const [word, below] of secondWords) {
    if (firstWords.some((choice) => choice.word === word)) continue;
    firstWords.push({ word, about: below.map((choice) => choice.word).join(', ') });
  }
  firstWords.push({ word: 'help', about: 'Show the help of a command' });
  // Completes the flags of `espalier keys`, which runs `keys list`.
  const defaultEntries = groupDefaults.map((each) => ({
    ...each,
    name: each.name.split(' ', 1)[0]!,
    words: [],
  }));
  return { commands: [...commands, ...defaultEntries], firstWords, secondWords };
}

async function readCommand({ name, about, load }: ListedCommand): Promise<CompletedCommand> {
  const { words, options, settings } = await load();
  const ofOptions = Object.entries(options).map(([key, option]) => ({
    name: toFlag(key),
    about: option.about,
    short: option.short,
    value: option.value,
    isRepeatable: option.isRepeatable === true,
    completes: option.completes,
  }));
  const ofSettings = settings.flatMap((setting) =>
    flagsOf(setting).map((flag) => ({
      name: flag,
      about: setting.about,
      short: undefined,
      value: setting.isSwitch ? undefined : 'value',
      isRepeatable: false,
      completes: flag.endsWith('-file') ? ('file' as const) : undefined,
    })),
  );
  return { name, about, flags: [...ofOptions, ...ofSettings, help], words };
}
