/** Reads the settings of the commands that call a server, and of the terminal. */

import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseInput, readInput, type Flags } from './read-setting.ts';
import { optionalSetting, serverUrl, setting, text, type Setting } from './setting.ts';

const heading = 'Connection:';

/** Settings of the commands that call a server. */
export const commandLineSettings = {
  url: optionalSetting('URL', serverUrl, {
    about: 'The API root of the server. By default, the server of the last login with this profile.',
    summary: 'The server; by default, the server of the last login',
    heading,
  }),
  profile: setting(
    'PROFILE',
    {
      ...text('letters, digits, dots, dashes and underscores', /^(?!\.)[\w.-]{1,64}$/),
      placeholder: 'name',
    },
    'default',
    {
      about: 'The name under which a login is stored. Use one profile for each server or user.',
      summary: 'The name of the stored login',
      heading,
    },
  ),
};

/** Reads the settings of the commands that call a server. `profileFolder` contains the stored logins. */
export function readCommandLineSettings(flags: Flags) {
  const read = (setting: Setting) => parseInput(setting, readInput(setting, process.env, flags));
  const configHome = process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config');
  return {
    url: read(commandLineSettings.url) as string | undefined,
    profile: read(commandLineSettings.profile) as string,
    profileFolder: join(configHome, 'espalier', 'profiles'),
  };
}

/** The program that shows long texts, with its arguments. */
export function readPagerCommand(): readonly string[] {
  return (process.env['PAGER'] || 'less -FRX').split(/\s+/);
}

/** Whether `npx` or `npm exec` started this process. */
export function isRunByNpx(): boolean {
  return process.env['npm_command'] === 'exec';
}

/** Whether the locale of the terminal is UTF-8. */
export function isUtf8Locale(): boolean {
  const { LC_ALL, LC_CTYPE, LANG } = process.env;
  return /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || '');
}
