/** Creates the page of all commands from the tree of the command line. */

import type { Command } from 'commander';
import { commandGroups, createProgram } from '../../server/src/cli/commands.ts';
import { exitCodes } from '../../server/src/cli/failures.ts';
import { fullName } from '../../server/src/cli/usage-error.ts';
import { environmentName, flagsOf } from '../../server/src/config/read-setting.ts';
import { settingGroups } from '../../server/src/config/settings-table.ts';
import { commandLineSettings } from '../../server/src/config/command-line.ts';
import type { Setting } from '../../server/src/config/setting.ts';

const serverSettings = Object.values(settingGroups).flatMap((group) => Object.values(group));
const connectionSettings: readonly Setting[] = Object.values(commandLineSettings);
const settingFlags = new Set([...connectionSettings, ...serverSettings].flatMap(flagsOf));

export async function createCommandReference(): Promise<string> {
  const program = await createProgram();
  const groups = Object.entries(commandGroups).map(([title, groupCommands]) => {
    const commands = groupCommands.map(({ name }) => program.commands.find((each) => each.name() === name)!);
    return `## ${title}\n\n${commands.flatMap(withSubcommands).map(formatCommand).join('\n\n')}`;
  });
  const codes = Object.values(exitCodes).map(({ code, about }) => `| ${code} | ${about} |`);
  return `<!-- Made by npm run generate. -->

# Commands

The help of every command. For examples, see [The command line](../administrators/command-line.md). In a clone, run \`npx espalier …\` instead
of \`espalier …\`.

${groups.join('\n\n')}

## Exit codes

| Code | Meaning |
| --- | --- |
${codes.join('\n')}
| 128+n | Ended by signal n, for example 130 after Ctrl-C |
`;
}

/** Returns a command, or the commands of a group. The help of a group only lists its commands. */
function withSubcommands(command: Command): readonly Command[] {
  return command.commands.length > 0 ? command.commands.flatMap(withSubcommands) : [command];
}

function formatCommand(command: Command): string {
  const settings = listSettings(command);
  let help = '';
  for (const option of command.options) {
    if (settingFlags.has(option.long?.slice('--'.length) ?? '')) option.hideHelp();
  }
  command.configureOutput({ writeOut: (text) => (help += text), getOutHelpWidth: () => 100 }).outputHelp();
  return [`### espalier ${fullName(command)}`, `\`\`\`text\n${help.trimEnd()}\n\`\`\``, ...settings].join(
    '\n\n',
  );
}

/** Lists only the names of the settings, because another page describes their values. */
function listSettings({ options }: Command): string[] {
  const accepts = (setting: Setting) =>
    flagsOf(setting).some((flag) => options.some(({ long }) => long === `--${flag}`));
  const connectionNames = connectionSettings.filter(accepts).map(formatName);
  const serverNames = serverSettings.filter(accepts).map(formatName);
  const isAll = serverNames.length === serverSettings.length;
  return [
    ...(connectionNames.length > 0
      ? [
          `Settings for the server and the session: ${connectionNames.join(', ')} ([Log in](../administrators/command-line.md#log-in)).`,
        ]
      : []),
    ...(serverNames.length > 0
      ? [
          `Settings, also available as flags: ${isAll ? 'all settings' : serverNames.join(', ')} ([Configuration](configuration.md)).`,
        ]
      : []),
  ];
}

function formatName(setting: Setting): string {
  return `\`${environmentName(setting)}\``;
}
