/** Settings as flags, for help. */

import { environmentName, flagsOf } from '../config/config.ts';
import type { Setting } from '../config/setting.ts';

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
