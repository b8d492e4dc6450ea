/** Parses the options of a script. `--help` prints the usage; an unknown option prints an error and the usage. */

import { parseArgs } from 'node:util';

/** Parses options that each take a value. */
export function parseScriptOptions<Name extends string>(
  usage: string,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  return parseScript(usage, names, false).values;
}

/** Parses options and positional arguments. */
export function parseScriptArguments<Name extends string>(
  usage: string,
  names: readonly Name[],
): { values: Partial<Record<Name, string>>; positionals: string[] } {
  return parseScript(usage, names, true);
}

function parseScript<Name extends string>(usage: string, names: readonly Name[], allowPositionals: boolean) {
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]));
  try {
    const { values, positionals } = parseArgs({
      allowPositionals,
      options: { ...options, help: { type: 'boolean' } },
    });
    if (!values.help) return { values: values as Partial<Record<Name, string>>, positionals };
    console.log(usage);
    process.exit(0);
  } catch (error) {
    console.error(`${(error as Error).message.split('. To specify')[0]}\n\n${usage}`);
    process.exit(2);
  }
}
