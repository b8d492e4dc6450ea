/** Defines commands as data with typed options, and adds them to the tree of commander, which parses them and prints help. */

import { Argument, Option as CommanderOption, type Command as CommanderCommand } from 'commander';
import { environmentName, findPasswordFlagWarnings, flagsOf } from '../config/read-setting.ts';
import { invalidValue } from '../config/start-error.ts';
import { plainText, type Kind, type Setting } from '../config/setting.ts';
import { print, printJson, printJsonList, printLines } from './terminal/output.ts';
import { fullName, hasPrinted, toUsageError } from './usage-error.ts';

/** A positional argument, such as `<path>` in `folder create <path>`. */
export interface Word {
  readonly name: string;
  readonly about: string;
  readonly isOptional?: boolean;
  /** Only for the last word. */
  readonly isRepeatable?: boolean;
  readonly choices?: readonly string[];
  readonly completions?: Completions;
}

/** The name of the option defines the flag: `pageSize` is `--page-size`. */
export interface Option {
  readonly about: string;
  /** The placeholder of the value in help, such as `path`. An option without one is a switch. */
  readonly value?: string;
  /** One letter. */
  readonly short?: string;
  readonly isRepeatable?: boolean;
  readonly kind?: Kind<unknown>;
  /** The heading above the option in help. */
  readonly heading?: string;
  readonly choices?: readonly string[];
  /** The names of options that cannot be combined with this one. */
  readonly conflicts?: readonly string[];
  readonly completions?: Completions;
}

/** The proposals of a shell for a value: file names, or these words. */
export type Completions = 'file' | readonly string[];

export type Options = Readonly<Record<string, Option>>;

export type Values<O extends Options> = {
  readonly [Name in keyof O]: O[Name] extends { value: string }
    ? O[Name] extends { isRepeatable: true }
      ? readonly string[]
      : O[Name] extends { choices: readonly (infer Choice)[] }
        ? Choice | undefined
        : O[Name] extends { kind: Kind<infer Value> }
          ? Value | undefined
          : string | undefined
    : boolean;
};

/** The values of settings that were passed as flags, by flag. */
export type SettingFlags = Readonly<Record<string, string>>;

export interface CommandInput<O extends Options = Options> {
  readonly words: readonly string[];
  readonly options: Values<O>;
  readonly flags: SettingFlags;
}

/** What a command prints: the data with `--json`, otherwise the text. A list is printed while it is read. */
export type Output =
  | { readonly data: unknown; readonly text: string | (() => string) }
  | {
      readonly items: AsyncIterable<unknown>;
      readonly lines: AsyncIterable<string>;
      /** Printed on a terminal if there are no lines. */
      readonly whenNone: string;
    };

export interface Definition<O extends Options> {
  /** Starts with a verb. */
  readonly about: string;
  readonly aliases?: readonly string[];
  readonly words?: readonly Word[];
  readonly options?: O;
  /** Settings that the command also accepts as flags. */
  readonly settings?: readonly Setting[];
  /** Settings that the help leaves out. */
  readonly hiddenSettings?: readonly Setting[];
  readonly details?: string;
  readonly examples: readonly string[];
  /** The command prints warnings about its settings itself. */
  readonly printsWarnings?: boolean;
  readonly run: (input: CommandInput<O>) => Promise<Output | void> | Output | void;
}

export type Command = Omit<Definition<Options>, 'run'> & {
  readonly run: (input: CommandInput<never>) => Promise<Output | void> | Output | void;
};

/** Commands about one thing, by verb: `folder list`. */
export interface Group {
  /** By default, the first example of each command. */
  readonly examples?: readonly string[];
  readonly commands: Readonly<Record<string, Command | (() => Promise<Command>)>>;
  /** The command that the name of the group alone runs: `journal` means `journal list`. */
  readonly groupDefault?: string;
}

/** A group with its commands loaded. */
export interface LoadedGroup extends Omit<Group, 'commands'> {
  readonly commands: Readonly<Record<string, Command>>;
}

/** The aliases of verbs, which are the same in all groups. A command can have more aliases. */
const verbAliases: Readonly<Record<string, string>> = { ls: 'list', rm: 'delete', mv: 'move' };

/** Loads the command of the group with this verb. An unknown verb loads all commands. */
export async function loadGroup(group: Group, word = ''): Promise<LoadedGroup> {
  const { commands } = group;
  const verb = verbAliases[word] ?? word;
  const wanted = Object.hasOwn(commands, verb) ? [verb] : Object.keys(commands);
  const loaded = wanted.map(async (each) => {
    const found = commands[each]!;
    return [each, typeof found === 'function' ? await found() : found] as const;
  });
  return { ...group, commands: Object.fromEntries(await Promise.all(loaded)) };
}

/** The heading of settings in help. */
const settingsGroup = 'Settings:';

export const maxHelpWidth = 100;

/** Defines a command, and infers the types of the options for `run`. */
export function command<const O extends Options>(definition: Definition<O>): Command {
  return definition;
}

/** The option of all commands that print data. Commands that use a server have it by default. */
export const json = { about: 'Print JSON' } as const satisfies Option;

/** Adds a command, or a group of commands, below its parent. */
export function addCommand(
  parent: CommanderCommand,
  name: string,
  about: string,
  definition: Command | LoadedGroup,
): CommanderCommand {
  const subcommand = prepare(parent.command(name).summary(about));
  if ('commands' in definition) {
    subcommand.description(`${about}.`).usage('<command> [options]');
    for (const [verb, each] of Object.entries(definition.commands)) {
      addCommand(subcommand, verb, each.about, each);
    }
    const firstExamples = Object.values(definition.commands).map(({ examples: [first = ''] }) => first);
    const more = `\nRun 'espalier ${name} <command> --help' for details about a command.`;
    return subcommand.addHelpText('after', `${more}\n${examplesOf(definition.examples ?? firstExamples)}`);
  }
  const { aliases = [], details = '', examples } = definition;
  const alias =
    aliases.length > 0 ? `${aliases.length === 1 ? 'Alias' : 'Aliases'}: ${aliases.join(', ')}` : '';
  subcommand
    .aliases(aliases)
    .description([`${about}.`, joinLines(details), alias].filter(Boolean).join('\n\n'));
  for (const word of definition.words ?? []) subcommand.addArgument(toArgument(word));
  for (const [key, option] of Object.entries(definition.options ?? {}))
    subcommand.addOption(toOption(key, option));
  for (const setting of definition.settings ?? []) addSetting(subcommand, setting);
  for (const setting of definition.hiddenSettings ?? []) addSetting(subcommand, setting, true);
  return subcommand
    .addHelpText('after', examplesOf(examples))
    .action(() => runCommand(definition, subcommand));
}

/** Configures the help of a command, and makes commander throw a `UsageError` for wrong usage. */
export function prepare(subcommand: CommanderCommand): CommanderCommand {
  return subcommand
    .helpOption('-h, --help', 'Show this help')
    .helpCommand(false)
    .configureOutput({
      getOutHelpWidth: () => Math.min(process.stdout.columns || maxHelpWidth, maxHelpWidth),
      // `exitOverride` throws the error. The entry point prints it and sets the exit code.
      outputError: () => undefined,
    })
    .configureHelp({
      commandUsage: (each) => ['espalier', fullName(each), each.usage()].filter(Boolean).join(' '),
      subcommandTerm: (each) => [each.name(), ...each.aliases()].join(', '),
      // Leaves out the choices, because the placeholder lists them.
      optionDescription: (option) => option.description,
      argumentDescription: (argument) => argument.description,
    })
    .exitOverride((error) => {
      throw hasPrinted(error) ? error : toUsageError(error, subcommand);
    });
}

export function examplesOf(examples: readonly string[]): string {
  return ['', 'Examples:', ...examples.map((example) => `  ${example}`)].join('\n');
}

/** Joins the lines of each paragraph. Commander then wraps them at the width of the terminal. */
function joinLines(text: string): string {
  return text.trim().replaceAll(/(?<=\S)\n(?=\S)/g, ' ');
}

function toArgument({ name, about, isOptional, isRepeatable, choices }: Word): Argument {
  const label = isRepeatable ? `${name}...` : name;
  const made = new Argument(isOptional ? `[${label}]` : `<${label}>`, about);
  return choices ? made.choices(choices).argParser((text) => toChoice(`<${name}>`, choices, text)) : made;
}

function toChoice(name: string, choices: readonly string[], text: string): string {
  if (choices.includes(text)) return text;
  throw invalidValue(name, choices.length > 2 ? `one of ${choices.join(', ')}` : choices.join(' or '), text);
}

function toOption(key: string, option: Option): CommanderOption {
  const { value, short, about, kind, choices, conflicts, isRepeatable, heading } = option;
  const flag = `--${toFlag(key)}${value === undefined ? '' : ` <${choices?.join('|') ?? value}>`}`;
  const text = isRepeatable ? `${about}; repeatable` : about;
  const made = new CommanderOption(short === undefined ? flag : `-${short}, ${flag}`, text);
  // `--no-title` is an option of its own here, not the negation of `--title`.
  made.negate = false;
  if (conflicts) made.conflicts([...conflicts]);
  const name = `--${toFlag(key)}`;
  if (choices) made.choices(choices).argParser((text) => toChoice(name, choices, text));
  if (kind) made.argParser((text) => parseValue(name, kind, text));
  if (isRepeatable) made.argParser(addText);
  return heading === undefined ? made : made.helpGroup(heading);
}

function addText(text: string, before: readonly string[] | undefined): readonly string[] {
  return [...(before ?? []), text];
}

function parseValue(name: string, kind: Kind<unknown>, text: string): unknown {
  const value = kind.parse(text);
  if (value === undefined) throw invalidValue(name, kind.accepts, text);
  return value;
}

function addSetting(subcommand: CommanderCommand, setting: Setting, isHidden = false): void {
  for (const flag of flagsOf(setting)) {
    const isFile = flag.endsWith('-file') && setting.mayBeFile;
    const value = isFile ? 'path' : (setting.placeholder ?? 'value');
    const byDefault = setting.default && !isFile ? `; default: ${formatDefault(setting.default)}` : '';
    const variable = `${environmentName(setting)}${isFile ? '_FILE' : ''}`;
    const text = `${describeSetting(setting, flag, isFile)} (env: ${variable}${byDefault})`;
    const option = new CommanderOption(`--${flag}${setting.isSwitch ? '' : ` <${value}>`}`, text);
    option.helpGroup(setting.heading ?? settingsGroup);
    subcommand.addOption(isHidden ? option.hideHelp() : option);
  }
}

/** Quotes a text, for example "default", but not a number. */
function formatDefault(value: string): string {
  return /^[\d.]+$/.test(value) ? value : JSON.stringify(value);
}

function describeSetting(setting: Setting, flag: string, isFile: boolean | undefined): string {
  if (isFile && !setting.isSecret) return `Read --${flag.replace(/-file$/, '')} from this file.`;
  if (setting.summary !== undefined) return setting.summary;
  const about = plainText(setting.about);
  if (setting.isSwitch) return about;
  return `${about} Takes ${isFile ? 'the path of a file that contains the value' : setting.accepts}.`;
}

async function runCommand(definition: Command, parsed: CommanderCommand): Promise<void> {
  const input = inputOf(definition, parsed);
  if (!definition.printsWarnings) {
    const settings = [...(definition.settings ?? []), ...(definition.hiddenSettings ?? [])];
    for (const text of findPasswordFlagWarnings(settings, input.flags)) {
      console.error(`espalier: warning: ${text}`);
    }
  }
  const output = await definition.run(input as never);
  if (!output) return;
  const isJson = (input.options as { readonly json?: boolean }).json;
  if ('items' in output)
    return isJson ? printJsonList(output.items) : printLines(output.lines, output.whenNone);
  const { data, text } = output;
  await (isJson ? printJson(data) : print(typeof text === 'string' ? text : text()));
}

function inputOf(
  { options = {}, settings = [], hiddenSettings = [] }: Command,
  parsed: CommanderCommand,
): CommandInput {
  const values: Readonly<Record<string, unknown>> = parsed.opts();
  const ofOptions = Object.entries(options).map(([key, { value, isRepeatable }]) => {
    if (value === undefined) return [key, values[key] === true];
    return [key, values[key] ?? (isRepeatable ? [] : undefined)];
  });
  const ofSettings = [...settings, ...hiddenSettings]
    .flatMap((setting) => flagsOf(setting))
    .flatMap((flag) => {
      const value = values[toKey(flag)];
      if (value === undefined) return [];
      return [[flag, typeof value === 'string' ? value : 'true']];
    });
  return {
    words: parsed.args,
    options: Object.fromEntries(ofOptions) as CommandInput['options'],
    flags: Object.fromEntries(ofSettings) as SettingFlags,
  };
}

export function toFlag(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function toKey(flag: string): string {
  return flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
