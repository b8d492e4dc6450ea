/** Parses --port 8080, --port=8080, --demo, -r and words. All arguments after -- are words. */

import { nearestName } from '../config/nearest-name.ts';
import { UsageError } from '../config/start-error.ts';

export interface Flag {
  readonly name: string;
  readonly isSwitch: boolean;
  readonly short?: string;
}

export interface Expected {
  readonly command: string;
  readonly flags: readonly Flag[];
  readonly takesWords: boolean;
}

export interface Arguments {
  /** The values of each flag by its name, in the order of the arguments. */
  readonly input: ReadonlyMap<string, readonly string[]>;
  readonly rest: readonly string[];
}

export function parseArguments(args: readonly string[], expected: Expected): Arguments {
  const input = new Map<string, string[]>();
  const words: string[] = [];
  const rest = expandShort(args, expected);
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    if (expected.takesWords && argument === '--') {
      words.push(...rest);
      break;
    }
    if (expected.takesWords && !/^-./.test(argument)) {
      words.push(argument);
      continue;
    }
    const [, name = '', joined] = /^--([^=]+)(?:=(.*))?$/s.exec(argument) ?? [];
    const flag = expected.flags.find((each) => each.name === name);
    if (!flag) throw new UsageError(unknownFlag(argument, name, expected));
    const value = joined ?? (flag.isSwitch ? 'true' : rest.shift());
    if (value === undefined) throw new UsageError(`--${name} needs a value.`);
    input.set(name, [...(input.get(name) ?? []), value]);
  }
  return { input, rest: words };
}

/** Expands -rl to --recursive --long. Unknown letters stay and cause an error later. */
function expandShort(args: readonly string[], { flags }: Expected): string[] {
  const end = args.indexOf('--');
  const expanded = (end < 0 ? args : args.slice(0, end)).flatMap((argument) => {
    const letters = /^-([a-zA-Z]+)$/.exec(argument)?.[1];
    const found = [...(letters ?? '')].map((letter) => flags.find(({ short }) => short === letter));
    const isKnown =
      found.length > 0 && found.every((flag, index) => flag && (flag.isSwitch || index === found.length - 1));
    return isKnown ? found.map((flag) => `--${flag!.name}`) : [argument];
  });
  return end < 0 ? expanded : [...expanded, ...args.slice(end)];
}

/** Never quotes the value of the flag, which may be a password. */
function unknownFlag(argument: string, name: string, { flags, command }: Expected): string {
  const names = flags.map((flag) => flag.name);
  const meant = names.find((each) => each === `${name}-file`) ?? nearestName(name, names);
  return `${name ? `There is no flag --${name}.` : `${argument || 'An empty argument'} is not a flag.`}${meant ? ` Did you mean --${meant}?` : ''} Run espalier ${command} --help for a list.`;
}
