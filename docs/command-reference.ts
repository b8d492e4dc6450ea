/** Creates the page of all commands from the tables of the command line. */

import { commandHelp, type Command, type ListedCommand } from '../server/src/cli/command.ts';
import { commandGroups } from '../server/src/cli/commands.ts';
import { exitCodes } from '../server/src/cli/failures.ts';
import { environmentName, settingGroups } from '../server/src/config/config.ts';
import { commandLineSettings } from '../server/src/config/server-settings.ts';
import type { Setting } from '../server/src/config/setting.ts';

const serverSettings = Object.values(settingGroups).flatMap((group) => Object.values(group));
const connectionSettings: readonly Setting<unknown>[] = Object.values(commandLineSettings);

export async function createCommandReference(): Promise<string> {
  const groups = await Promise.all(
    commandGroups.map(async ({ title, commands }) => {
      const sections = await Promise.all(commands.map(formatCommand));
      return `## ${title}\n\n${sections.join('\n\n')}`;
    }),
  );
  const codes = Object.values(exitCodes).map(({ code, about }) => `| ${code} | ${about} |`);
  return `<!-- Made by npm run generate. -->

# Commands

The help of every command. For examples, see [The command line](command-line.md). In a clone, run \`npx espalier …\` instead
of \`espalier …\`.

${groups.join('\n\n')}

## Exit codes

| Code | Meaning |
| --- | --- |
${codes.join('\n')}
| 128+n | Ended by signal n, for example 130 after Ctrl-C |
`;
}

async function formatCommand({ name, about, load, isGroupDefault }: ListedCommand): Promise<string> {
  const command = await load();
  const help = commandHelp(name, about, command, { showsSettings: false });
  const text = ['```text', help, '```'].join('\n');
  const [firstWord] = name.split(' ');
  return [
    `### espalier ${name}`,
    text,
    ...(isGroupDefault ? [`\`espalier ${firstWord}\` alone does the same.`] : []),
    ...listSettings(command),
  ].join('\n\n');
}

/** Lists only the names: another page describes the values. */
function listSettings({ settings }: Command): string[] {
  const own = settings.filter((each) => connectionSettings.includes(each)).map(formatName);
  const server = settings.filter((each) => serverSettings.includes(each)).map(formatName);
  const isAll = server.length === serverSettings.length;
  return [
    ...(own.length > 0
      ? [`Settings for the server and the session: ${own.join(', ')} ([Log in](command-line.md#log-in)).`]
      : []),
    ...(server.length > 0
      ? [
          `Settings, also available as flags: ${isAll ? 'all settings' : server.join(', ')} ([Configuration](configuration.md)).`,
        ]
      : []),
  ];
}

function formatName(setting: Setting<unknown>): string {
  return `\`${environmentName(setting)}\``;
}
