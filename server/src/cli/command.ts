/**
 * Defines commands as data: words, options and settings. The argument parser, the help and the shell completion use the same
 * definition.
 */

import { parseBoolean, type Setting } from '../config/setting.ts';
import { flagsOf } from '../config/config.ts';
import { UsageError } from '../config/start-error.ts';
import { describeFlags } from './flags.ts';
import { parseArguments, type Flag } from './parse-arguments.ts';

/** A positional argument, such as `<path>` in `folder mkdir <path>`. */
export interface Word {
  readonly name: string;
  readonly about: string;
  readonly isOptional?: boolean;
  /** Only for the last word. */
  readonly isRepeatable?: boolean;
  readonly completes?: Completes;
}

/** The name of the option defines the flag: `pageSize` is `--page-size`. */
export interface Option {
  readonly about: string;
  /** The placeholder of the value in help, such as `path`. An option without one is a switch. */
  readonly value?: string;
  /** One letter. */
  readonly short?: string;
  readonly isRepeatable?: boolean;
  readonly completes?: Completes;
}

/** The completions of a shell: file names, or one of these words. */
export type Completes = 'file' | readonly string[];

export type Options = Readonly<Record<string, Option>>;

export type Values<O extends Options> = {
  readonly [Name in keyof O]: O[Name] extends { value: string }
    ? O[Name] extends { isRepeatable: true }
      ? readonly string[]
      : string | undefined
    : boolean;
};

export interface CommandInput<O extends Options = Options> {
  readonly words: readonly string[];
  readonly options: Values<O>;
  /** Settings that were passed as flags, by flag. */
  readonly flags: Readonly<Record<string, string>>;
}

export interface Definition<O extends Options> {
  readonly words?: readonly Word[];
  readonly options?: O;
  /** Settings that the command also accepts as flags. */
  readonly settings?: readonly Setting<unknown>[];
  /** Text below the usage line. */
  readonly details?: string;
  readonly run: (input: CommandInput<O>) => Promise<void> | void;
}

export type Command = Omit<Required<Definition<Options>>, 'run'> & {
  readonly run: (input: CommandInput<never>) => Promise<void> | void;
};

/** The entry for help and completion. The command itself is loaded when it is needed. */
export interface ListedCommand {
  readonly name: string;
  readonly about: string;
  /** The name of the group alone runs this command: `keys` is `keys list`. */
  readonly isGroupDefault?: boolean;
  readonly load: () => Promise<Command>;
}

/** Keeps the names of the options for `run`. */
export function command<const O extends Options>(definition: Definition<O>): Command {
  return { words: [], options: {}, settings: [], details: '', ...definition };
}

/** The option of all commands that print data. */
export const json = { about: 'Print JSON' } as const satisfies Option;

export function readInput(
  name: string,
  { words, options, settings }: Command,
  args: readonly string[],
): CommandInput {
  const flags: Flag[] = [
    ...Object.entries(options).map(([key, { value, short }]) => ({
      name: toFlag(key),
      isSwitch: value === undefined,
      ...(short !== undefined && { short }),
    })),
    ...settings.flatMap((setting) =>
      flagsOf(setting).map((flag) => ({ name: flag, isSwitch: setting.isSwitch === true })),
    ),
  ];
  const { input, rest } = parseArguments(args, { command: name, flags, takesWords: words.length > 0 });
  checkWords(name, words, rest);
  const values = Object.entries(options).map(([key, { value, isRepeatable }]) => {
    const all = input.get(toFlag(key)) ?? [];
    if (value !== undefined) return [key, isRepeatable ? all : all.at(-1)];
    const isOn = parseBoolean(all.at(-1) ?? 'false');
    if (isOn === undefined) throw new UsageError(`--${toFlag(key)} is a switch, and takes no value.`);
    return [key, isOn];
  });
  const ofSettings = settings
    .flatMap((setting) => flagsOf(setting))
    .flatMap((flag) => (input.has(flag) ? [[flag, input.get(flag)!.at(-1)!]] : []));
  return {
    words: rest,
    options: Object.fromEntries(values) as CommandInput['options'],
    flags: Object.fromEntries(ofSettings) as CommandInput['flags'],
  };
}

export function toFlag(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function checkWords(name: string, words: readonly Word[], rest: readonly string[]): void {
  const missing = words.find(({ isOptional }, index) => !isOptional && index >= rest.length);
  if (missing) throw new UsageError(`espalier ${name} needs a <${missing.name}>. ${helpHint(name)}`);
  const mayBeMore = words.at(-1)?.isRepeatable === true;
  const tooMany = rest[words.length];
  if (tooMany !== undefined && !mayBeMore) {
    throw new UsageError(
      `espalier ${name} takes ${words.length === 1 ? 'one argument' : `${words.length} arguments`}; ${JSON.stringify(tooMany)} is one too many. ${helpHint(name)}`,
    );
  }
}

export function helpHint(name: string): string {
  return `Run espalier ${name} --help for details.`;
}

export function commandHelp(
  name: string,
  about: string,
  { words, options, settings, details }: Command,
  { showsSettings = true } = {},
): string {
  const isFlagged = Object.keys(options).length + settings.length > 0;
  const usage = ['espalier', name, ...words.map(formatWord), ...(isFlagged ? ['[flags]'] : [])].join(' ');
  const rows = [
    ...words.map((word) => [`<${word.name}>`, word.about] as const),
    ...Object.entries(options).map(([key, option]) => [formatOption(key, option), option.about] as const),
  ];
  const width = Math.max(0, ...rows.map(([left]) => left.length)) + 2;
  return [
    `Usage: ${usage}`,
    `${about}.${details ? `\n${details.trim()}` : ''}`,
    rows.map(([left, right]) => `  ${left.padEnd(width)}${right}`).join('\n'),
    showsSettings ? describeFlags(settings) : '',
  ]
    .filter(Boolean)
    .join('\n\n');
}

function formatWord({ name, isOptional, isRepeatable }: Word): string {
  const word = `<${name}>${isRepeatable ? '…' : ''}`;
  return isOptional ? `[${word}]` : word;
}

function formatOption(key: string, { value, short }: Option): string {
  return `${short ? `-${short}, ` : ''}--${toFlag(key)}${value ? ` <${value}>` : ''}`;
}
