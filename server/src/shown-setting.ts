/** A setting as people may see it: where its value comes from, and what it is unless that is a secret. */

export interface ShownSetting {
  /** The variable. */
  readonly name: string;
  readonly subject: string;
  readonly description: string;
  readonly accepts: string;
  /** Never a secret, nor a password inside an address. */
  readonly value: string | null;
  readonly default: string | null;
  readonly source: 'DEFAULT' | 'ENVIRONMENT' | 'FILE' | 'COMMAND_LINE';
  /** The variable or the flag. */
  readonly givenBy: string | null;
  readonly isSecret: boolean;
}
