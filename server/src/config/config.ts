/**
 * Reads all settings from flags, the environment and files. No other file of the server reads the environment. `settings-table.ts`
 * defines the settings; a new subject needs a line in both `settingGroups` and `settingsTable`.
 */

import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { nearestName } from './nearest-name.ts';
import { containsPassword, redactPassword } from './redact-url.ts';
import { StartError, UsageError } from './start-error.ts';
import type { Setting, DisplayedSetting } from './setting.ts';
import {
  backupSettings,
  commandLineSettings,
  databaseSettings,
  limitSettings,
  metricsSettings,
  networkSettings,
  startSettings,
  tokenSettings,
  traceSettings,
} from './settings-table.ts';

/** The settings by subject, in the order of the documentation. */
export const settingGroups: Readonly<Record<string, Readonly<Record<string, Setting>>>> = {
  Network: networkSettings,
  Database: databaseSettings,
  Backup: backupSettings,
  'Tokens and logins': tokenSettings,
  Limits: limitSettings,
  Metrics: metricsSettings,
  Traces: traceSettings,
  'First start and log': startSettings,
};

export const settingsTable = {
  ...networkSettings,
  ...databaseSettings,
  ...backupSettings,
  ...tokenSettings,
  ...limitSettings,
  ...metricsSettings,
  ...traceSettings,
  ...startSettings,
};

type Table = typeof settingsTable;
type ValueOf<S extends { parse: (text: string) => unknown }> = Exclude<ReturnType<S['parse']>, undefined>;

/** Settings with a default always have a value. */
export type Settings = {
  readonly [K in keyof Table]: Table[K] extends { default: string }
    ? ValueOf<Table[K]>
    : ValueOf<Table[K]> | undefined;
};

/** Selects the settings that `openDatabase` needs. */
export function databaseOptionsFrom(settings: Settings) {
  const { databasePoolMode: poolMode, databaseTimeoutSeconds: timeoutSeconds } = settings;
  return { connections: settings.databaseConnections, poolMode, timeoutSeconds };
}

const environmentPrefix = 'ESPALIER_';
export const environmentName = ({ name }: { name: string }) => environmentPrefix + name;
export const flagName = ({ name }: { name: string }) => name.toLowerCase().replaceAll('_', '-');

const table: Readonly<Record<string, Setting>> = settingsTable;
const allSettings = Object.values(table);

/** The flags of a setting: one for its value, one for a file with its value, or both. */
export function flagsOf(setting: Setting): string[] {
  const flag = flagName(setting);
  return [...(setting.isSecret ? [] : [flag]), ...(setting.mayBeFile ? [`${flag}-file`] : [])];
}

/** By name, without the dashes. */
type Flags = Readonly<Record<string, string>>;
type Environment = Readonly<Record<string, string | undefined>>;

/** Reads every setting. A flag overrides the environment. Throws one StartError with a line for each invalid setting. */
export function readSettings({ environment, flags = {} }: { environment: Environment; flags?: Flags }): {
  settings: Settings;
  displayed: readonly DisplayedSetting[];
  warnings: string[];
} {
  const inputs = new Map<Setting, SettingInput | undefined>();
  const errors: StartError[] = [];
  const read = (setting: Setting) => {
    try {
      const input = readInput(setting, environment, flags);
      inputs.set(setting, input);
      return parseInput(setting, input);
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      errors.push(error);
      return undefined;
    }
  };
  const values = Object.fromEntries(
    Object.entries(table).map(([key, setting]) => [key, read(setting)]),
  ) as unknown as Settings;
  throwErrors([...errors, ...findContradictions(values)]);
  const displayed = Object.entries(settingGroups).flatMap(([subject, group]) =>
    Object.values(group).map((setting) => displaySetting(setting, subject, inputs.get(setting))),
  );
  const warnings = [
    ...findUnknownSettingWarnings(environment),
    ...findIgnoredSettingWarnings(inputs),
    ...findPasswordFlagWarnings(flags),
  ];
  return { settings: Object.freeze(values), displayed, warnings };
}

function throwErrors(errors: readonly StartError[]): void {
  if (errors.length === 0) return;
  if (errors.length === 1) throw errors[0]!;
  const ErrorClass = errors.some((each) => each instanceof UsageError) ? UsageError : StartError;
  throw new ErrorClass(errors.map(({ message }) => message).join('\n'));
}

/** Finds valid settings that contradict each other. */
function findContradictions(values: Partial<Settings>): StartError[] {
  const { tlsCertFile, tlsKeyFile, metricsPort, port, backupFolder, databaseUrl } = values;
  return [
    !tlsCertFile !== !tlsKeyFile &&
      'ESPALIER_TLS_CERT_FILE and ESPALIER_TLS_KEY_FILE go together: set both for https, or neither.',
    metricsPort !== undefined &&
      metricsPort !== 0 &&
      metricsPort === port &&
      'ESPALIER_METRICS_PORT and ESPALIER_PORT are equal. Set different ports.',
    backupFolder !== undefined &&
      databaseUrl?.startsWith('sqlite:') === false &&
      'ESPALIER_BACKUP_FOLDER requires a database file. Remove it, and back up PostgreSQL with its own tools: see espalier docs deployment.',
  ]
    .filter((text) => text !== false)
    .map((text) => new UsageError(text));
}

function displaySetting(
  setting: Setting,
  subject: string,
  input: SettingInput | undefined,
): DisplayedSetting {
  const { about, accepts, isSecret = false, mayHoldPassword } = setting;
  const text = input?.text ?? setting.default ?? null;
  const isByFile = input !== undefined && /[_-]file$/i.test(input.source) && setting.mayBeFile === true;
  const isByFlag = input?.source.startsWith('--');
  return {
    name: environmentName(setting),
    subject,
    description: about,
    accepts,
    value: isSecret || text === null ? null : mayHoldPassword ? redactPassword(text) : text,
    default: setting.default ?? null,
    source: !input ? 'DEFAULT' : isByFile ? 'FILE' : isByFlag ? 'COMMAND_LINE' : 'ENVIRONMENT',
    givenBy: input?.source ?? null,
    isSecret,
  };
}

/** Reads the settings from the environment of the process and from its flags. */
export function readProcessSettings(flags: Flags) {
  return readSettings({ environment: process.env, flags });
}

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

/** Whether the locale says that the terminal displays more than ASCII. */
export function isUtf8Locale(): boolean {
  const { LC_ALL, LC_CTYPE, LANG } = process.env;
  return /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || '');
}

/** Lists the files with secrets, such as passwords and private keys. Only their owner should be able to read them. */
export function listSecretFiles(flags: Flags): { readonly source: string; readonly path: string }[] {
  const { tlsKeyFile } = settingsTable;
  const fromFiles = allSettings
    .filter(({ mayBeFile }) => mayBeFile)
    .map((setting) => [setting, '_FILE'] as const);
  return [...fromFiles, [tlsKeyFile, ''] as const].flatMap(([setting, ending]) => {
    const variable = environmentName(setting) + ending;
    const flag = flagName(setting) + ending.toLowerCase().replace('_', '-');
    const byFlag = flags[flag];
    const path = byFlag ?? process.env[variable];
    return path ? [{ source: byFlag === undefined ? variable : `--${flag}`, path }] : [];
  });
}

/** The text of a setting and its source: a flag or a variable. */
interface SettingInput {
  readonly source: string;
  readonly text: string;
}

function parseInput(setting: Setting, input: SettingInput | undefined): unknown {
  if (!input) return setting.default === undefined ? undefined : setting.parse(setting.default);
  const value = setting.parse(input.text);
  if (value === undefined) {
    const holds = setting.isSecret
      ? 'holds a value that'
      : `is ${JSON.stringify(redactPassword(input.text))}, which`;
    throw new UsageError(`${input.source} ${holds} is not usable: it takes ${setting.accepts}.`);
  }
  return value;
}

function readInput(setting: Setting, environment: Environment, flags: Flags): SettingInput | undefined {
  const variable = environmentName(setting);
  const flag = flagName(setting);
  refuseBoth([`--${flag}`, flags[flag]], [`--${flag}-file`, flags[`${flag}-file`]]);
  refuseBoth([variable, environment[variable]], [`${variable}_FILE`, environment[`${variable}_FILE`]]);
  if (!setting.isSecret && flags[flag] !== undefined) return { source: `--${flag}`, text: flags[flag] };
  if (setting.mayBeFile) {
    const byFlag = flags[`${flag}-file`];
    const byVariable = environment[`${variable}_FILE`] || undefined;
    const source = byFlag === undefined ? `${variable}_FILE` : `--${flag}-file`;
    const path = byFlag ?? byVariable;
    if (path !== undefined) return { source, text: readInputFile(source, path) };
  }
  const text = environment[variable];
  // An empty variable counts as not set, as shells and compose files produce them.
  return text && !isServiceLink(variable, text) ? { source: variable, text } : undefined;
}

/** Throws if both inputs are set, because the intended one is unknown. */
function refuseBoth(...inputs: [name: string, value: string | undefined][]): void {
  if (!inputs.every(([, value]) => value)) return;
  throw new UsageError(`${inputs.map(([name]) => name).join(' and ')} are both set. Set only one.`);
}

/** Reads the file that a flag or a variable names, without the line break at its end. */
export function readInputFile(source: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (cause) {
    const { message } = cause as Error;
    throw new StartError(`${source} names the file ${path}, which cannot be read: ${message}.`, { cause });
  }
}

/**
 * Kubernetes gives every pod variables for each service; those of a service named "espalier" look like ours
 * (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
 */
function isServiceLink(name: string, value: string): boolean {
  return (
    /^ESPALIER_(\w+_)?SERVICE_(HOST|PORT)(_\w+)?$/.test(name) ||
    /^ESPALIER_(\w+_)?PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name) ||
    (/^ESPALIER_(\w+_)?PORT$/.test(name) && /^(tcp|udp|sctp):\/\//.test(value))
  );
}

/** Finds settings that have no effect, for example because another setting is missing. */
function findIgnoredSettingWarnings(inputs: ReadonlyMap<Setting, SettingInput | undefined>): string[] {
  return allSettings.flatMap((setting) => {
    const source = inputs.get(setting)?.source;
    if (source === undefined) return [];
    const needed = allSettings.find(({ name }) => name === setting.onlyWith);
    if (!needed || inputs.get(needed)) return [];
    return [`${source} is ignored: it has no effect without ${environmentName(needed)}.`];
  });
}

/** Finds flags with a password: all users of the machine can list the arguments of a process. */
export function findPasswordFlagWarnings(flags: Flags): string[] {
  return allSettings
    .filter((setting) => setting.mayHoldPassword && containsPassword(flags[flagName(setting)] ?? ''))
    .map((setting) => {
      const flag = `--${flagName(setting)}`;
      return `${flag} holds a password, which every user of this machine can read in the process list. Use ${flag}-file or ${environmentName(setting)} instead.`;
    });
}

/** Finds variables that look like settings. This is possible even if the settings cannot be read. */
export function findUnknownSettingWarnings(environment: Environment = process.env): string[] {
  const settingNames = [...allSettings, ...Object.values<Setting>(commandLineSettings)].flatMap(
    ({ name, mayBeFile }) => (mayBeFile ? [name, `${name}_FILE`] : [name]),
  );
  return Object.keys(environment)
    .filter((name) => name.startsWith(environmentPrefix) && !isServiceLink(name, environment[name] ?? ''))
    .map((name) => name.slice(environmentPrefix.length))
    .filter((name) => !settingNames.includes(name))
    .map((name) => {
      const meant = nearestName(name, settingNames);
      const hint = meant ? ` Did you mean ${environmentPrefix}${meant}?` : '';
      return `${environmentPrefix}${name} is not a setting of Espalier and is ignored.${hint}`;
    });
}
