/**
 * What a command is: its words, options and settings as data. From the same table come the reading of its arguments, its
 * help and the completion of shells.
 */

import { parseBoolean } from '../config/setting-values.ts';
import type { Setting } from '../config/setting.ts';
import { flagsOf } from '../config/config.ts';
import { UsageError } from '../config/start-error.ts';
import { describeFlags } from './flags.ts';
import { parseArguments, type Flag } from './parse-arguments.ts';

/** A word that is no flag, as in `folder mkdir <path>`. */
export interface Word {
  readonly name: string;
  readonly about: string;
  readonly isOptional?: boolean;
  /** The last one may come several times. */
  readonly isRepeatable?: boolean;
  readonly completes?: Completes;
}

/** The flag is made from the name of the option: `pageSize` is `--page-size`. */
export interface Option {
  readonly about: string;
  /** What stands for its value in help, such as `path`; an option without one is a switch. */
  readonly value?: string;
  /** One letter. */
  readonly short?: string;
  readonly isRepeatable?: boolean;
  readonly completes?: Completes;
}

/** What a shell proposes: names of files, or one of these. */
export type Completes = 'file' | readonly string[];

export type Options = Readonly<Record<string, Option>>;

export type Values<O extends Options> = {
  readonly [Name in keyof O]: O[Name] extends { value: string }
    ? O[Name] extends { isRepeatable: true }
      ? readonly string[]
      : string | undefined
    : boolean;
};

export interface Given<O extends Options = Options> {
  readonly words: readonly string[];
  readonly options: Values<O>;
  /** The settings that were given as flags, by flag. */
  readonly flags: Readonly<Record<string, string>>;
}

export interface Definition<O extends Options> {
  readonly words?: readonly Word[];
  readonly options?: O;
  /** Settings that it takes as flags too. */
  readonly settings?: readonly Setting<unknown>[];
  /** What else there is to know, below the usage. */
  readonly details?: string;
  readonly run: (given: Given<O>) => Promise<void> | void;
}

export type Command = Omit<Required<Definition<Options>>, 'run'> & {
  readonly run: (given: Given<never>) => Promise<void> | void;
};

/** As help and completion know it; loaded when it is asked for. */
export interface ListedCommand {
  readonly name: string;
  readonly about: string;
  /** The first word of its name alone does the same: `keys` is `keys list`. */
  readonly isMeantByFirstWord?: boolean;
  readonly load: () => Promise<Command>;
}

/** Keeps the names of the options for `run`. */
export function command<const O extends Options>(definition: Definition<O>): Command {
  return { words: [], options: {}, settings: [], details: '', ...definition };
}

/** For everything that prints data. */
export const json = { about: 'Print JSON, for programs' } as const satisfies Option;

export function readGiven(
  name: string,
  { words, options, settings }: Command,
  args: readonly string[],
): Given {
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
  const { given, rest } = parseArguments(args, { command: name, flags, takesWords: words.length > 0 });
  checkWords(name, words, rest);
  const values = Object.entries(options).map(([key, { value, isRepeatable }]) => {
    const all = given.get(toFlag(key)) ?? [];
    if (value !== undefined) return [key, isRepeatable ? all : all.at(-1)];
    const isOn = parseBoolean(all.at(-1) ?? 'false');
    if (isOn === undefined) throw new UsageError(`--${toFlag(key)} is a switch, and takes no value.`);
    return [key, isOn];
  });
  const ofSettings = settings
    .flatMap((setting) => flagsOf(setting))
    .flatMap((flag) => (given.has(flag) ? [[flag, given.get(flag)!.at(-1)!]] : []));
  return {
    words: rest,
    options: Object.fromEntries(values) as Given['options'],
    flags: Object.fromEntries(ofSettings) as Given['flags'],
  };
}

export function toFlag(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function checkWords(name: string, words: readonly Word[], rest: readonly string[]): void {
  const missing = words.find(({ isOptional }, place) => !isOptional && place >= rest.length);
  if (missing) throw new UsageError(`espalier ${name} needs a <${missing.name}>. ${tellsMore(name)}`);
  const mayBeMore = words.at(-1)?.isRepeatable === true;
  const tooMany = rest[words.length];
  if (tooMany !== undefined && !mayBeMore) {
    throw new UsageError(
      `espalier ${name} takes ${words.length === 1 ? 'one word' : `${words.length} words`}, and ${JSON.stringify(tooMany)} is one too many. ${tellsMore(name)}`,
    );
  }
}

export function tellsMore(name: string): string {
  return `espalier ${name} --help tells more.`;
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
