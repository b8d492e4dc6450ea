/** What a setting is. */

export interface Setting<Value> {
  /** The environment variable without `ESPALIER_`; the flag is made from it. */
  readonly name: string;
  readonly about: string;
  /** What a good value looks like, for the error text and the docs. */
  readonly accepts: string;
  /** As a user would write it; a setting without one is not set unless given. */
  readonly default?: string;
  /** The name of another setting: unless that one is given, this one does nothing. */
  readonly onlyWith?: string;
  /** The value may also be in a file, named by `…_FILE` or `--…-file`. */
  readonly mayBeFile?: boolean;
  /** A secret is never shown, and never a flag: others could see it in the process list. */
  readonly isSecret?: boolean;
  /** It may have a password inside, which is not shown either. */
  readonly mayHoldPassword?: boolean;
  /** A switch is a flag without a value. */
  readonly isSwitch?: boolean;
  /** A setting of a removed part. It is accepted with a warning. */
  readonly hasNoEffect?: boolean;
  /** Undefined when the text is not acceptable. */
  readonly parse: (text: string) => Value | undefined;
}

/** Keeps the type of its value. */
export function setting<Value, Given extends Setting<Value>>(given: Given & Setting<Value>): Given {
  return given;
}
