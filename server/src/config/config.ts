/**
 * Reads all settings from flags, the environment and files. Only this file and `command-line.ts` read the environment.
 * `settings-table.ts` defines the settings.
 */

import { commandLineSettings } from './command-line.ts';
import { nearestName } from './nearest-name.ts';
import {
  environmentName,
  environmentPrefix,
  findPasswordFlagWarnings,
  flagName,
  isServiceLink,
  parseInput,
  readInput,
  type Environment,
  type Flags,
  type SettingInput,
} from './read-setting.ts';
import { redactPassword } from './redact-url.ts';
import { StartError, UsageError } from './start-error.ts';
import type { Setting, DisplayedSetting } from './setting.ts';
import { settingGroups, settingsTable, type Settings } from './settings-table.ts';

/** Selects the settings that `openDatabase` needs. */
export function databaseOptionsFrom(settings: Settings) {
  const { databasePoolMode: poolMode, databaseTimeoutSeconds: timeoutSeconds } = settings;
  return { connections: settings.databaseConnections, poolMode, timeoutSeconds };
}

const table: Readonly<Record<string, Setting>> = settingsTable;
const allSettings = Object.values(table);

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
  const isSet = (setting: Setting) => inputs.get(setting) !== undefined;
  throwErrors([...errors, ...findContradictions(values, isSet)]);
  const displayed = Object.entries(settingGroups).flatMap(([subject, group]) =>
    Object.values(group).map((setting) => displaySetting(setting, subject, inputs.get(setting))),
  );
  const warnings = [
    ...findUnknownSettingWarnings(environment),
    ...findIgnoredSettingWarnings(inputs),
    ...findPasswordFlagWarnings(allSettings, flags),
  ];
  return { settings: Object.freeze(values), displayed, warnings };
}

function throwErrors(errors: readonly StartError[]): void {
  if (errors.length === 0) return;
  if (errors.length === 1) throw errors[0]!;
  const ErrorClass = errors.some((each) => each instanceof UsageError) ? UsageError : StartError;
  throw new ErrorClass(errors.map(({ message }) => message).join('\n'));
}

/** Finds valid settings that contradict each other. `isSet` is also true for a setting with an invalid value. */
function findContradictions(values: Partial<Settings>, isSet: (setting: Setting) => boolean): StartError[] {
  const { tlsCertFile, tlsKeyFile, metricsPort, port, backupFolder, databaseUrl, ssoIssuer } = values;
  const { ssoClientId, publicUrl } = settingsTable;
  return [
    !tlsCertFile !== !tlsKeyFile &&
      'ESPALIER_TLS_CERT_FILE and ESPALIER_TLS_KEY_FILE go together: set both for https, or neither.',
    metricsPort !== undefined &&
      metricsPort !== 0 &&
      metricsPort === port &&
      'ESPALIER_METRICS_PORT and ESPALIER_PORT are equal. Set different ports.',
    backupFolder !== undefined &&
      databaseUrl?.startsWith('sqlite:') === false &&
      "ESPALIER_BACKUP_FOLDER requires an SQLite database. Remove the setting, and back up PostgreSQL with its own tools: see 'espalier docs postgresql'.",
    ssoIssuer !== undefined &&
      !(isSet(ssoClientId) && isSet(publicUrl)) &&
      "ESPALIER_SSO_ISSUER requires ESPALIER_SSO_CLIENT_ID, and the URL of this server in ESPALIER_PUBLIC_URL. Set all three: see 'espalier docs single-sign-on'.",
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

/** Finds settings that have no effect, for example because another setting is missing. */
function findIgnoredSettingWarnings(inputs: ReadonlyMap<Setting, SettingInput | undefined>): string[] {
  return allSettings.flatMap((setting) => {
    const source = inputs.get(setting)?.source;
    if (source === undefined) return [];
    const requiredSetting = allSettings.find(({ name }) => name === setting.onlyWith);
    if (!requiredSetting || inputs.get(requiredSetting)) return [];
    return [`${source} is ignored: it has no effect without ${environmentName(requiredSetting)}.`];
  });
}

/** The programs in `examples/` read the password of a user from this variable. */
const examplesPassword = 'PASSWORD';

/** Finds variables that have the prefix of settings but are not settings. Works even if the settings cannot be read. */
export function findUnknownSettingWarnings(environment: Environment = process.env): string[] {
  const settingNames = [...allSettings, ...Object.values<Setting>(commandLineSettings)].flatMap(
    ({ name, mayBeFile }) => (mayBeFile ? [name, `${name}_FILE`] : [name]),
  );
  return Object.keys(environment)
    .filter((name) => name.startsWith(environmentPrefix) && !isServiceLink(name, environment[name] ?? ''))
    .map((name) => name.slice(environmentPrefix.length))
    .filter((name) => !settingNames.includes(name) && name !== examplesPassword)
    .map((name) => {
      const suggestion = nearestName(name, settingNames);
      const hint = suggestion ? ` Did you mean ${environmentPrefix}${suggestion}?` : '';
      return `${environmentPrefix}${name} is not a setting of Espalier and is ignored.${hint}`;
    });
}
