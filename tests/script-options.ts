/** The options of a script: `--help` tells them, and a wrong one is told in a line. */

import { parseArgs } from 'node:util';

/** Each takes a value. `usage` is shown by `--help`. */
export function scriptOptions<Name extends string>(
  usage: string,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  return readScript(usage, names, false).values;
}

/** The same with words that are no options. */
export function scriptWords<Name extends string>(
  usage: string,
  names: readonly Name[],
): { values: Partial<Record<Name, string>>; words: string[] } {
  return readScript(usage, names, true);
}

function readScript<Name extends string>(usage: string, names: readonly Name[], takesWords: boolean) {
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: takesWords,
      options: { ...options, help: { type: 'boolean' } },
    });
    if (!values.help) return { values: values as Partial<Record<Name, string>>, words: positionals };
    console.log(usage);
    process.exit(0);
  } catch (error) {
    console.error(`${(error as Error).message.split('. To specify')[0]}\n\n${usage}`);
    process.exit(2);
  }
}
