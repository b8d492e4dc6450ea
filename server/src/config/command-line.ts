/** Reads the settings of the commands that call a server, and of the terminal. */

import { homedir } from 'node:os';
import { join } from 'node:path';
import { environmentName, flagName, parseInput, readInput, type Flags } from './read-setting.ts';
import { optionalSetting, serverUrl, setting, text, type Kind, type Setting } from './setting.ts';
import { UsageError } from './start-error.ts';

const heading = 'Connection:';

/** The pattern also detects a session token or a password in the wrong variable. The server checks the rest. */
const apiKeyText: Kind<string> = {
  ...text('an API key, which starts with esp_'),
  // Secret stores and shells often add a line break.
  parse: (input) => /^\s*(esp_[\dA-Za-z]+)\s*$/.exec(input)?.[1],
};

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
  apiKey: optionalSetting('API_KEY', apiKeyText, {
    about: 'An API key, which commands use instead of a stored login.',
    summary: 'Use the API key in this file instead of the stored login',
    isSecret: true,
    mayBeFile: true,
    heading,
  }),
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

/** An API key, and the flag or the variable that provides it. */
export interface ApiKeyInput {
  readonly key: string;
  readonly source: string;
}

/** Call it once: the file of the key can be a pipe, which can be read only once. */
export function readApiKey(flags: Flags): ApiKeyInput | undefined {
  requireFileNames(flags);
  const input = readInput(commandLineSettings.apiKey, process.env, flags);
  const key = parseInput(commandLineSettings.apiKey, input) as string | undefined;
  return input && key !== undefined ? { key, source: input.source } : undefined;
}

/** Refuses a key in place of the name of its file. The message about a missing file would repeat the key. */
function requireFileNames(flags: Flags): void {
  const [flag, variable] = [
    `${flagName(commandLineSettings.apiKey)}-file`,
    `${environmentName(commandLineSettings.apiKey)}_FILE`,
  ];
  for (const [source, path = ''] of [
    [`--${flag}`, flags[flag]],
    [variable, process.env[variable]],
  ] as const) {
    if (!/^esp_[\dA-Za-z]{40,}$/.test(path)) continue;
    throw new UsageError(`${source} is an API key. Set it to the name of a file that contains the key.`);
  }
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

/** The address of this machine in the SSH session of this process; undefined without a session. */
export function readSshServer(): string | undefined {
  // The addresses and ports of the client and of the server.
  return process.env['SSH_CONNECTION']?.split(' ')[2];
}

/**
 * Whether this process can open a browser for its user. In an SSH session, only the program in `BROWSER` can, for example the one that
 * an editor sets to open pages on the user's own computer.
 */
export function canOpenBrowser(): boolean {
  const { BROWSER, DISPLAY, WAYLAND_DISPLAY, WSL_DISTRO_NAME } = process.env;
  if (BROWSER) return true;
  if (readSshServer() !== undefined) return false;
  return process.platform !== 'linux' || Boolean(DISPLAY || WAYLAND_DISPLAY || WSL_DISTRO_NAME);
}
