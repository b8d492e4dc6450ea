/** Creates the page of all commands from the tables of the command line. */

import { commandHelp, type Command, type ListedCommand } from '../server/src/cli/command.ts';
import { commandGroups } from '../server/src/cli/commands.ts';
import { exitCodes } from '../server/src/cli/failures.ts';
import { environmentName, settingGroups } from '../server/src/config/config.ts';
import { commandLineSettings } from '../server/src/config/start-settings.ts';
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

What \`espalier help\` tells, of every command; [The command line](command-line.md) shows how they are used. In a clone,
\`espalier …\` is \`npx espalier …\`.

${groups.join('\n\n')}

## Exit codes

| Code | What it means |
| --- | --- |
${codes.join('\n')}
| 128+n | Ended by the signal n, as by Ctrl-C (130) |
`;
}

async function formatCommand({ name, about, load, isMeantByFirstWord }: ListedCommand): Promise<string> {
  const command = await load();
  const help = commandHelp(name, about, command, { showsSettings: false });
  const text = ['```text', help, '```'].join('\n');
  const [firstWord] = name.split(' ');
  return [
    `### espalier ${name}`,
    text,
    ...(isMeantByFirstWord ? [`\`espalier ${firstWord}\` alone does the same.`] : []),
    ...listSettings(command),
  ].join('\n\n');
}

/** Lists only the names: another page describes the values. */
function listSettings({ settings }: Command): string[] {
  const own = settings.filter((each) => connectionSettings.includes(each)).map(formatName);
  const server = settings.filter((each) => serverSettings.includes(each)).map(formatName);
  const isAll = server.length === serverSettings.length;
  return [
    ...(own.length > 0 ? [`Which server: ${own.join(', ')} ([Log in](command-line.md#log-in)).`] : []),
    ...(server.length > 0
      ? [
          `Settings, also as flags: ${isAll ? 'all of those' : `${server.join(', ')},`} on the page [Configuration](configuration.md).`,
        ]
      : []),
  ];
}

function formatName(setting: Setting<unknown>): string {
  return `\`${environmentName(setting)}\``;
}
