/** Reads one setting from a flag, a variable or a file. */

import { readFileSync } from 'node:fs';
import { containsPassword, redactPassword } from './redact-url.ts';
import type { Setting } from './setting.ts';
import { fileError, invalidValue, UsageError } from './start-error.ts';

export const environmentPrefix = 'ESPALIER_';
export const environmentName = ({ name }: { name: string }) => environmentPrefix + name;
export const flagName = ({ name }: { name: string }) => name.toLowerCase().replaceAll('_', '-');

/** The flags of a setting: one for its value, one for a file with its value, or both. */
export function flagsOf(setting: Setting): string[] {
  const flag = flagName(setting);
  return [...(setting.isSecret ? [] : [flag]), ...(setting.mayBeFile ? [`${flag}-file`] : [])];
}

/** The values of flags by name, without the dashes. */
export type Flags = Readonly<Record<string, string>>;
export type Environment = Readonly<Record<string, string | undefined>>;

/** The text of a setting and its source: a flag or a variable. */
export interface SettingInput {
  readonly source: string;
  readonly text: string;
}

export function parseInput(setting: Setting, input: SettingInput | undefined): unknown {
  if (!input) return setting.default === undefined ? undefined : setting.parse(setting.default);
  const value = setting.parse(input.text);
  if (value === undefined) {
    throw invalidValue(
      input.source,
      setting.accepts,
      setting.isSecret ? undefined : redactPassword(input.text),
    );
  }
  return value;
}

export function readInput(
  setting: Setting,
  environment: Environment,
  flags: Flags,
): SettingInput | undefined {
  const variable = environmentName(setting);
  const flag = flagName(setting);
  requireSingleInput([`--${flag}`, flags[flag]], [`--${flag}-file`, flags[`${flag}-file`]]);
  requireSingleInput(
    [variable, environment[variable]],
    [`${variable}_FILE`, environment[`${variable}_FILE`]],
  );
  if (!setting.isSecret && flags[flag] !== undefined) return { source: `--${flag}`, text: flags[flag] };
  if (setting.mayBeFile) {
    const byFlag = flags[`${flag}-file`];
    const byVariable = environment[`${variable}_FILE`] || undefined;
    const source = byFlag === undefined ? `${variable}_FILE` : `--${flag}-file`;
    const path = byFlag ?? byVariable;
    if (path !== undefined) return { source, text: readInputFile(source, path) };
  }
  const text = environment[variable];
  // An empty variable counts as not set, because shells and compose files produce empty variables.
  return text && !isServiceLink(variable, text) ? { source: variable, text } : undefined;
}

/** Throws if both inputs are set, because the intended one is unknown. */
function requireSingleInput(...inputs: [name: string, value: string | undefined][]): void {
  if (!inputs.every(([, value]) => value)) return;
  throw new UsageError(`${inputs.map(([name]) => name).join(' and ')} are both set. Set only one.`);
}

/** Reads the file that a flag or a variable names, without the line break at its end. */
export function readInputFile(source: string, path: string): string {
  return readInputBytes(source, path)
    .toString()
    .replace(/\r?\n$/, '');
}

export function readInputBytes(source: string, path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw fileError(`Cannot read ${path} (${source})`, cause);
  }
}

/**
 * For each service, Kubernetes sets environment variables in every pod. For a service named "espalier", they look like our settings
 * (https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
 */
export function isServiceLink(name: string, value: string): boolean {
  return (
    /^ESPALIER_(\w+_)?SERVICE_(HOST|PORT)(_\w+)?$/.test(name) ||
    /^ESPALIER_(\w+_)?PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?$/.test(name) ||
    (/^ESPALIER_(\w+_)?PORT$/.test(name) && /^(tcp|udp|sctp):\/\//.test(value))
  );
}

/** Warns about flags that contain a password, because all users of the machine can list the arguments of a process. */
export function findPasswordFlagWarnings(settings: readonly Setting[], flags: Flags): string[] {
  return settings
    .filter((setting) => setting.mayHoldPassword && containsPassword(flags[flagName(setting)] ?? ''))
    .map((setting) => {
      const flag = `--${flagName(setting)}`;
      return `${flag} contains a password, which every user of this machine can read in the process list. Use ${flag}-file or ${environmentName(setting)} instead.`;
    });
}
