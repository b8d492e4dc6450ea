/** The definition of a setting, and its display for people. */

export interface Setting<Value> {
  /** The environment variable without `ESPALIER_`. The flag is derived from it. */
  readonly name: string;
  readonly about: string;
  /** A description of valid values, for errors and documentation. */
  readonly accepts: string;
  /** The default as text. Without a default, the setting can be undefined. */
  readonly default?: string;
  /** The name of another setting, without which this one has no effect. */
  readonly onlyWith?: string;
  /** `…_FILE` or `--…-file` can name a file with the value. */
  readonly mayBeFile?: boolean;
  /** A secret is never displayed and has no flag, because other users can see flags in the process list. */
  readonly isSecret?: boolean;
  /** The value can contain a password, which is never displayed. */
  readonly mayHoldPassword?: boolean;
  /** The flag takes no value. */
  readonly isSwitch?: boolean;
  /** The setting belongs to a removed feature. It is accepted with a warning. */
  readonly hasNoEffect?: boolean;
  /** Returns undefined if the text is invalid. */
  readonly parse: (text: string) => Value | undefined;
}

/** Checks a definition and keeps the type of its value. */
export function setting<Value, Definition extends Setting<Value>>(
  definition: Definition & Setting<Value>,
): Definition {
  return definition;
}

/** A setting for display. Secrets are left out. */
export interface DisplayedSetting {
  /** The environment variable. */
  readonly name: string;
  readonly subject: string;
  readonly description: string;
  readonly accepts: string;
  /** Null for a secret. Passwords in URLs are removed. */
  readonly value: string | null;
  readonly default: string | null;
  readonly source: 'DEFAULT' | 'ENVIRONMENT' | 'FILE' | 'COMMAND_LINE';
  /** The variable or the flag that set the value. */
  readonly givenBy: string | null;
  readonly isSecret: boolean;
}
