/**
 * Every setting, from `settings/`. `--help` and `docs/configuration.md` are made from these tables, and nothing else in
 * the server reads the environment.
 */

import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { nearestName } from './nearest-name.ts';
import { backupSettings } from './settings/backup-settings.ts';
import { commandLineSettings } from './settings/command-line-settings.ts';
import { databaseSettings } from './settings/database-settings.ts';
import { limitSettings } from './settings/limit-settings.ts';
import { metricsSettings } from './settings/metrics-settings.ts';
import { networkSettings } from './settings/network-settings.ts';
import type { Setting } from './settings/setting.ts';
import { startSettings } from './settings/start-settings.ts';
import { tokenSettings } from './settings/token-settings.ts';
import { traceSettings } from './settings/trace-settings.ts';
import type { ShownSetting } from './shown-setting.ts';
import { holdsPassword, withoutPassword } from './shown-url.ts';
import { StartError, UsageError } from './start-error.ts';

/** By subject, as they are shown. */
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

/** What opening the database takes of the settings. */
export function databaseOptionsOf(given: Settings): {
  connections: number;
  poolMode: 'session' | 'transaction';
  timeoutSeconds: number;
} {
  return {
    connections: given.databaseConnections,
    poolMode: given.databasePoolMode,
    timeoutSeconds: given.databaseTimeoutSeconds,
  };
}

const environmentPrefix = 'ESPALIER_';
export const environmentName = ({ name }: { name: string }) => environmentPrefix + name;
export const flagName = ({ name }: { name: string }) => name.toLowerCase().replaceAll('_', '-');

const table: Readonly<Record<string, Setting<unknown>>> = settingsTable;
const settings = Object.values(table);

/** The flags that give a setting: its value, the file of its value, or both. */
export function flagsOf(each: Setting<unknown>): string[] {
  const flag = flagName(each);
  return [...(each.isSecret ? [] : [flag]), ...(each.mayBeFile ? [`${flag}-file`] : [])];
}

export interface Sources {
  environment: Readonly<Record<string, string | undefined>>;
  /** Flags by name, without the dashes. */
  flags?: Readonly<Record<string, string>>;
}

/** Reads every setting; a flag beats the environment. Throws a StartError that tells of all that are bad, a line each. */
export function readSettings({ environment, flags = {} }: Sources): {
  settings: Settings;
  shown: readonly ShownSetting[];
  warnings: string[];
} {
  const given = new Map<Setting<unknown>, GivenText | undefined>();
  const bad: StartError[] = [];
  const read = (each: Setting<unknown>) => {
    try {
      const text = givenText(each, environment, flags);
      given.set(each, text);
      return parsed(each, text);
    } catch (error) {
      if (!(error instanceof StartError)) throw error;
      bad.push(error);
      return undefined;
    }
  };
  const values = Object.fromEntries(
    Object.entries(table).map(([key, each]) => [key, read(each)]),
  ) as unknown as Settings;
  requireNone([...bad, ...contradictionsOf(values)]);
  const shown = Object.entries(settingGroups).flatMap(([subject, group]) =>
    Object.values(group).map((each) => shownSetting(each, subject, given.get(each))),
  );
  const warnings = [...unknownNames(environment), ...withoutEffect(given), ...passwordsInProcessList(flags)];
  return { settings: Object.freeze(values), shown, warnings };
}

function requireNone(bad: readonly StartError[]): void {
  if (bad.length === 0) return;
  if (bad.length === 1) throw bad[0]!;
  const Wrong = bad.some((each) => each instanceof UsageError) ? UsageError : StartError;
  throw new Wrong(bad.map(({ message }) => message).join('\n'));
}

/** What does not go together, of what can be read. */
function contradictionsOf(values: Partial<Settings>): StartError[] {
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

function shownSetting(each: Setting<unknown>, subject: string, given: GivenText | undefined): ShownSetting {
  const { about, accepts, isSecret = false, mayHoldPassword } = each;
  const text = given?.text ?? each.default ?? null;
  const isByFile = given !== undefined && /[_-]file$/i.test(given.source) && each.mayBeFile === true;
  const isByFlag = given?.source.startsWith('--');
  return {
    name: environmentName(each),
    subject,
    description: about,
    accepts,
    value: isSecret || text === null ? null : mayHoldPassword ? withoutPassword(text) : text,
    default: each.default ?? null,
    source: !given ? 'DEFAULT' : isByFile ? 'FILE' : isByFlag ? 'COMMAND_LINE' : 'ENVIRONMENT',
    givenBy: given?.source ?? null,
    isSecret,
  };
}

/** What is warned of also where the settings cannot be read. */
export function unknownNamesOfProcess(): string[] {
  return unknownNames(process.env);
}

/** The process's own environment and the given flags. */
export function settingsOfProcess(flags: Readonly<Record<string, string>>) {
  return readSettings({ environment: process.env, flags });
}

/** What the commands that talk to a server take; a flag beats the environment. */
export function commandLineOfProcess(flags: Readonly<Record<string, string>>): {
  readonly url: string | undefined;
  readonly profile: string;
  /** Where the logins are kept. */
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

/** Whether a terminal can be expected to show more than ASCII, as the locale says. */
export function isUtf8Process(): boolean {
  const { LC_ALL, LC_CTYPE, LANG } = process.env;
  return /utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || '');
}

/** The files that hold the value of a setting, or that a setting names: those that others must not read. */
export function secretFilesOfProcess(
  flags: Readonly<Record<string, string>>,
): { readonly source: string; readonly path: string }[] {
  const { tlsKeyFile } = settingsTable;
  const named = [...settings.filter(({ mayBeFile }) => mayBeFile).map((each) => [each, '_FILE'] as const)];
  return [...named, [tlsKeyFile, ''] as const].flatMap(([each, ending]) => {
    const variable = environmentName(each) + ending;
    const flag = flagName(each) + ending.toLowerCase().replace('_', '-');
    const byFlag = flags[flag];
    const path = byFlag ?? process.env[variable];
    return path ? [{ source: byFlag === undefined ? variable : `--${flag}`, path }] : [];
  });
}

/** What was written, and where. */
interface GivenText {
  readonly source: string;
  readonly text: string;
}

function readSetting(each: Setting<unknown>, environment: Sources['environment'], flags: Sources['flags']) {
  return parsed(each, givenText(each, environment, flags ?? {}));
}

function parsed(each: Setting<unknown>, given: GivenText | undefined): unknown {
  if (!given) return each.default === undefined ? undefined : each.parse(each.default);
  const value = each.parse(given.text);
  if (value === undefined) {
    const holds = each.isSecret
      ? 'holds a value that'
      : `is ${JSON.stringify(withoutPassword(given.text))}, which`;
    const Wrong = given.source.startsWith('--') ? UsageError : StartError;
    throw new Wrong(`${given.source} ${holds} is not usable: it takes ${each.accepts}.`);
  }
  return value;
}

function givenText(
  each: Setting<unknown>,
  environment: Sources['environment'],
  flags: Readonly<Record<string, string>>,
): GivenText | undefined {
  const variable = environmentName(each);
  const flag = flagName(each);
  requireOne([`--${flag}`, flags[flag]], [`--${flag}-file`, flags[`${flag}-file`]]);
  requireOne([variable, environment[variable]], [`${variable}_FILE`, environment[`${variable}_FILE`]]);
  if (!each.isSecret && flags[flag] !== undefined) return { source: `--${flag}`, text: flags[flag] };
  if (each.mayBeFile) {
    const byFlag = flags[`${flag}-file`];
    const byVariable = environment[`${variable}_FILE`];
    if (byFlag !== undefined) return fileText(`--${flag}-file`, byFlag);
    if (byVariable) return fileText(`${variable}_FILE`, byVariable);
  }
  const text = environment[variable];
  // An empty variable counts as not set, as shells and compose files produce them.
  return text && !isServiceLink(variable, text) ? { source: variable, text } : undefined;
}

/** Whoever gives both may mean either. */
function requireOne(...given: [name: string, value: string | undefined][]): void {
  if (!given.every(([, value]) => value)) return;
  throw new StartError(`${given.map(([name]) => name).join(' and ')} are both given: take one of them.`);
}

/** What the file holds that a flag or a variable names. */
export function fileText(source: string, path: string): GivenText {
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

/** What was written, and does nothing because of what was not. */
function withoutEffect(given: ReadonlyMap<Setting<unknown>, GivenText | undefined>): string[] {
  return settings.flatMap((each) => {
    const needed = settings.find(({ name }) => name === each.onlyWith);
    const source = given.get(each)?.source;
    if (each.hasNoEffect && source !== undefined) return [`${source} is ignored: it has no effect any more.`];
    if (!needed || source === undefined || given.get(needed)) return [];
    return [`${source} is ignored: it does nothing without ${environmentName(needed)}.`];
  });
}

/** One warning for each flag whose value holds a password: all users of the machine can list the arguments of a process. */
export function passwordsInProcessList(flags: Readonly<Record<string, string>>): string[] {
  return settings
    .filter((each) => each.mayHoldPassword && holdsPassword(flags[flagName(each)] ?? ''))
    .map((each) => {
      const flag = `--${flagName(each)}`;
      return `${flag} holds a password, which every user of this machine can read in the process list. Use ${flag}-file or ${environmentName(each)} instead.`;
    });
}

function unknownNames(environment: Sources['environment']): string[] {
  const known = [...settings, ...Object.values<Setting<unknown>>(commandLineSettings)].flatMap(
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
