/** Settings as flags: --port 8080, --port=8080, --demo. */

import { environmentName, flagsOf, settingsTable } from '../config.ts';
import type { Setting } from '../settings/setting.ts';
import { nearestName } from '../nearest-name.ts';
import { UsageError } from '../start-error.ts';

interface Flag {
  readonly name: string;
  readonly isSwitch: boolean;
}

interface Taken {
  readonly settings: readonly Setting<unknown>[];
  readonly command: string;
}

const everySetting: Taken = { settings: Object.values(settingsTable), command: 'serve' };

export function parseFlags(
  args: readonly string[],
  { settings, command }: Taken = everySetting,
): Record<string, string> {
  const known = settings.flatMap((setting) =>
    flagsOf(setting).map((name): Flag => ({ name, isSwitch: setting.isSwitch === true })),
  );
  const given: Record<string, string> = {};
  const rest = [...args];
  for (let argument = rest.shift(); argument !== undefined; argument = rest.shift()) {
    const [, name = '', joined] = /^--([^=]+)(?:=(.*))?$/s.exec(argument) ?? [];
    const flag = known.find((each) => each.name === name);
    if (!flag) throw new UsageError(unknownFlag(argument, name, known, command));
    const value = joined ?? (flag.isSwitch ? 'true' : rest.shift());
    if (value === undefined) throw new UsageError(`--${name} needs a value.`);
    given[name] = value;
  }
  return given;
}

/** Never shows what stands behind the flag: it may be a password. */
function unknownFlag(argument: string, name: string, known: readonly Flag[], command: string): string {
  const names = known.map((flag) => flag.name);
  const meant = names.find((each) => each === `${name}-file`) ?? nearestName(name, names);
  return `${name ? `There is no flag --${name}.` : `${argument || 'An empty argument'} is not a flag.`}${meant ? ` Did you mean --${meant}?` : ''} espalier ${command} --help lists them.`;
}

/** For help. */
export function describeFlags(settings: readonly Setting<unknown>[]): string {
  const rows = settings.map((setting) => {
    const flags = flagsOf(setting).map((flag) => `--${flag}${valueOf(flag, setting)}`);
    const byDefault = setting.default ? ` [${setting.default}]` : '';
    const variable = environmentName(setting) + (setting.mayBeFile ? ' or …_FILE' : '');
    return `  ${flags.join(', ')}${byDefault}\n      ${setting.about}\n      ${variable}: ${setting.accepts}`;
  });
  return rows.join('\n\n');
}

function valueOf(flag: string, { isSwitch }: Setting<unknown>): string {
  if (isSwitch) return '';
  return flag.endsWith('-file') ? ' <path>' : ' <value>';
}
