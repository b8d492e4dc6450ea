/**
 * Reads all settings from flags, environment variables and files. No other file of the server reads the environment. The
 * tables of settings also produce `--help` and `docs/configuration.md`.
 */

import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { nearestName } from './nearest-name.ts';
import { backupSettings, databaseSettings } from './database-settings.ts';
import { limitSettings } from './limit-settings.ts';
import { networkSettings } from './network-settings.ts';
import { metricsSettings, traceSettings } from './observability-settings.ts';
import type { Setting, DisplayedSetting } from './setting.ts';
import { commandLineSettings, startSettings } from './start-settings.ts';
import { tokenSettings } from './token-settings.ts';
import { containsPassword, redactPassword } from './url-password.ts';
import { StartError, UsageError } from './start-error.ts';

/** The settings by subject, in the order of the documentation. */
export const settingGroups: Readonly<Record<string, Readonly<Record<string, Setting<unknown>>>>> = {
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
export function databaseOptionsFrom(settings: Settings): {
  connections: number;
  poolMode: 'session' | 'transaction';
  timeoutSeconds: number;
} {
  return {
    connections: settings.databaseConnections,
    poolMode: settings.databasePoolMode,
    timeoutSeconds: settings.databaseTimeoutSeconds,
  };
}

const environmentPrefix = 'ESPALIER_';
export const environmentName = ({ name }: { name: string }) => environmentPrefix + name;
export const flagName = ({ name }: { name: string }) => name.toLowerCase().replaceAll('_', '-');

const table: Readonly<Record<string, Setting<unknown>>> = settingsTable;
const allSettings = Object.values(table);

/** The flags of a setting: one for its value, one for a file with its value, or both. */
export function flagsOf(each: Setting<unknown>): string[] {
  const flag = flagName(each);
  return [...(each.isSecret ? [] : [flag]), ...(each.mayBeFile ? [`${flag}-file`] : [])];
}

export interface Sources {
  environment: Readonly<Record<string, string | undefined>>;
  /** Flags by name, without the dashes. */
  flags?: Readonly<Record<string, string>>;
}

/** Reads every setting. A flag overrides the environment. Throws one StartError with a line for each invalid setting. */
export function readSettings({ environment, flags = {} }: Sources): {
  settings: Settings;
  displayed: readonly DisplayedSetting[];
  warnings: string[];
} {
  const inputs = new Map<Setting<unknown>, SettingInput | undefined>();
  const errors: StartError[] = [];
  const read = (each: Setting<unknown>) => {
    try {
      const input = readInput(each, environment, flags);
      inputs.set(each, input);
      return parseInput(each, input);
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      errors.push(error);
      return undefined;
    }
  };
  const values = Object.fromEntries(
    Object.entries(table).map(([key, each]) => [key, read(each)]),
  ) as unknown as Settings;
  throwErrors([...errors, ...findContradictions(values)]);
  const displayed = Object.entries(settingGroups).flatMap(([subject, group]) =>
    Object.values(group).map((each) => displaySetting(each, subject, inputs.get(each))),
  );
  const warnings = [
    ...warnAboutUnknownNames(environment),
    ...warnAboutIgnored(inputs),
    ...warnAboutPasswordFlags(flags),
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
      'ESPALIER_METRICS_PORT and ESPALIER_PORT are the same: choose another for one of them.',
    backupFolder !== undefined &&
      databaseUrl?.startsWith('sqlite:') === false &&
      'ESPALIER_BACKUP_FOLDER is for a database file. Backups of a PostgreSQL are made with its own tools, as docs/deployment.md#backup shows: leave the setting out.',
  ]
    .filter((text) => text !== false)
    .map((text) => new StartError(text));
}

function displaySetting(
  each: Setting<unknown>,
  subject: string,
  input: SettingInput | undefined,
): DisplayedSetting {
  const { about, accepts, isSecret = false, mayHoldPassword } = each;
  const text = input?.text ?? each.default ?? null;
  const isByFile = input !== undefined && /[_-]file$/i.test(input.source) && each.mayBeFile === true;
  const isByFlag = input?.source.startsWith('--');
  return {
    name: environmentName(each),
    subject,
    description: about,
    accepts,
    value: isSecret || text === null ? null : mayHoldPassword ? redactPassword(text) : text,
    default: each.default ?? null,
    source: !input ? 'DEFAULT' : isByFile ? 'FILE' : isByFlag ? 'COMMAND_LINE' : 'ENVIRONMENT',
    givenBy: input?.source ?? null,
    isSecret,
  };
}

/** The warnings that are available even if the settings cannot be read. */
export function unknownSettingWarnings(): string[] {
  return warnAboutUnknownNames(process.env);
}

/** Reads the settings from the environment of the process and from its flags. */
export function readProcessSettings(flags: Readonly<Record<string, string>>) {
  return readSettings({ environment: process.env, flags });
}

/** Reads the settings of the commands that call a server. A flag overrides the environment. */
export function readCommandLineSettings(flags: Readonly<Record<string, string>>): {
  readonly url: string | undefined;
  readonly profile: string;
  /** The folder of the stored logins. */
  readonly profileFolder: string;
} {
  const { url, profile } = commandLineSettings;
  const configHome = process.env['XDG_CONFIG_HOME'] || join(homedir(), '.config');
  return {
    url: readSetting(url, process.env, flags) as string | undefined,
    profile: readSetting(profile, process.env, flags) as string,
    profileFolder: join(configHome, 'espalier', 'profiles'),
  };
}

/** Whether the locale says that the terminal displays more than ASCII. */
export function isUtf8Locale(): boolean {
  const { LC_ALL, LC_CTYPE, LANG } = process.env;
  return /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || '');
}

/** Lists the files with secrets, such as passwords and private keys. Only their owner should be able to read them. */
export function listSecretFiles(
  flags: Readonly<Record<string, string>>,
): { readonly source: string; readonly path: string }[] {
  const { tlsKeyFile } = settingsTable;
  const fromFiles = allSettings.filter(({ mayBeFile }) => mayBeFile).map((each) => [each, '_FILE'] as const);
  return [...fromFiles, [tlsKeyFile, ''] as const].flatMap(([each, ending]) => {
    const variable = environmentName(each) + ending;
    const flag = flagName(each) + ending.toLowerCase().replace('_', '-');
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

function readSetting(each: Setting<unknown>, environment: Sources['environment'], flags: Sources['flags']) {
  return parseInput(each, readInput(each, environment, flags ?? {}));
}

function parseInput(each: Setting<unknown>, input: SettingInput | undefined): unknown {
  if (!input) return each.default === undefined ? undefined : each.parse(each.default);
  const value = each.parse(input.text);
  if (value === undefined) {
    const holds = each.isSecret
      ? 'holds a value that'
      : `is ${JSON.stringify(redactPassword(input.text))}, which`;
    const ErrorClass = input.source.startsWith('--') ? UsageError : StartError;
    throw new ErrorClass(`${input.source} ${holds} is not usable: it takes ${each.accepts}.`);
  }
  return value;
}

function readInput(
  each: Setting<unknown>,
  environment: Sources['environment'],
  flags: Readonly<Record<string, string>>,
): SettingInput | undefined {
  const variable = environmentName(each);
  const flag = flagName(each);
  requireOne([`--${flag}`, flags[flag]], [`--${flag}-file`, flags[`${flag}-file`]]);
  requireOne([variable, environment[variable]], [`${variable}_FILE`, environment[`${variable}_FILE`]]);
  if (!each.isSecret && flags[flag] !== undefined) return { source: `--${flag}`, text: flags[flag] };
  if (each.mayBeFile) {
    const byFlag = flags[`${flag}-file`];
    const byVariable = environment[`${variable}_FILE`];
    if (byFlag !== undefined) return readInputFile(`--${flag}-file`, byFlag);
    if (byVariable) return readInputFile(`${variable}_FILE`, byVariable);
  }
  const text = environment[variable];
  // An empty variable counts as not set, as shells and compose files produce them.
  return text && !isServiceLink(variable, text) ? { source: variable, text } : undefined;
}

/** Throws if both are set, because the intended one is unknown. */
function requireOne(...inputs: [name: string, value: string | undefined][]): void {
  if (!inputs.every(([, value]) => value)) return;
  throw new StartError(`${inputs.map(([name]) => name).join(' and ')} are both given: take one of them.`);
}

/** Reads the file that a flag or a variable names. */
export function readInputFile(source: string, path: string): SettingInput {
  try {
    return { source, text: readFileSync(path, 'utf8').replace(/\r?\n$/, '') };
  } catch (cause) {
    throw new StartError(
      `${source} names the file ${path}, which cannot be read: ${(cause as Error).message}.`,
      {
        cause,
      },
    );
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

/** Warns of settings that have no effect, for example because another setting is missing. */
function warnAboutIgnored(inputs: ReadonlyMap<Setting<unknown>, SettingInput | undefined>): string[] {
  return allSettings.flatMap((each) => {
    const needed = allSettings.find(({ name }) => name === each.onlyWith);
    const source = inputs.get(each)?.source;
    if (each.hasNoEffect && source !== undefined) return [`${source} is ignored: it has no effect any more.`];
    if (!needed || source === undefined || inputs.get(needed)) return [];
    return [`${source} is ignored: it does nothing without ${environmentName(needed)}.`];
  });
}

/** Warns of each flag with a password: all users of the machine can list the arguments of a process. */
export function warnAboutPasswordFlags(flags: Readonly<Record<string, string>>): string[] {
  return allSettings
    .filter((each) => each.mayHoldPassword && containsPassword(flags[flagName(each)] ?? ''))
    .map((each) => {
      const flag = `--${flagName(each)}`;
      return `${flag} holds a password, which every user of this machine can read in the process list. Use ${flag}-file or ${environmentName(each)} instead.`;
    });
}

function warnAboutUnknownNames(environment: Sources['environment']): string[] {
  const known = [...allSettings, ...Object.values<Setting<unknown>>(commandLineSettings)].flatMap(
    ({ name, mayBeFile }) => (mayBeFile ? [name, `${name}_FILE`] : [name]),
  );
  return Object.keys(environment)
    .filter((name) => name.startsWith(environmentPrefix) && !isServiceLink(name, environment[name] ?? ''))
    .map((name) => name.slice(environmentPrefix.length))
    .filter((name) => !known.includes(name))
    .map((name) => {
      const meant = nearestName(name, known);
      const hint = meant ? ` Did you mean ${environmentPrefix}${meant}?` : '';
      return `${environmentPrefix}${name} is not a setting of Espalier and is ignored.${hint}`;
    });
}
