/** Creates the page of all settings from the tables of the server. */

import { environmentName, flagsOf } from '../../server/src/config/read-setting.ts';
import { settingGroups } from '../../server/src/config/settings-table.ts';
import type { Setting } from '../../server/src/config/setting.ts';
import { formatTable } from './markdown.ts';

export type SettingGroups = Readonly<Record<string, Readonly<Record<string, Setting<unknown>>>>>;

export function createConfigurationReference(all: SettingGroups = settingGroups): string {
  const groups = Object.entries(all).map(([title, settings]) => {
    const rows = Object.values(settings).map((setting) => [
      `\`${environmentName(setting)}\`${setting.mayBeFile ? ` or \`${environmentName(setting)}_FILE\`` : ''}`,
      flagsOf(setting)
        .map((flag) => `\`--${flag}\``)
        .join(' or '),
      setting.default ? `\`${setting.default}\`` : 'none',
      `${setting.about} Takes ${setting.accepts}.`,
    ]);
    return `## ${title}\n\n${formatTable(['Variable', 'Flag', 'Default', 'What it does'], rows)}`;
  });
  return `<!-- Made by npm run generate. -->

# Configuration

Every setting is an environment variable and a flag of \`espalier serve\`; a flag wins. An empty variable counts as not
set. A value that cannot be used stops the start and says what would be accepted; an unknown \`ESPALIER_…\` variable is
warned of, and so is one that does nothing without another, as a host for metrics without their port. A secret is never a flag, because others could see it in the process list: give the path of a file instead.

${groups.join('\n\n')}
`;
}
