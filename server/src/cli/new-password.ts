/** A password that is set: typed twice, read, or made here and printed once. */

import { generatePassword } from '../accounts/passwords.ts';
import { UsageError } from '../config/start-error.ts';
import type { Option } from './command.ts';
import { print, printJson } from './output.ts';
import { passwordOptions, readPassword, type PasswordGiven } from './secret-input.ts';

export const newPasswordOptions = {
  ...passwordOptions,
  generate: { about: 'Make a password, and print it once' },
} as const satisfies Record<string, Option>;

export interface NewPassword {
  readonly password: string;
  /** Set if the password was generated and must be printed. */
  readonly generated: string | undefined;
}

export async function readNewPassword(
  given: PasswordGiven & { readonly generate: boolean },
  prompt: string,
): Promise<NewPassword> {
  if (!given.generate)
    return { password: await readPassword(given, { prompt, isNew: true }), generated: undefined };
  if (given.passwordStdin || given.passwordFile !== undefined) {
    throw new UsageError('--generate makes a password, and another is given: take one of them.');
  }
  const password = generatePassword();
  return { password, generated: password };
}

/** The result, with the password if it was generated. */
export async function tellWithPassword(
  { isJson, generated }: { readonly isJson: boolean; readonly generated: string | undefined },
  data: object,
  sentence: string,
): Promise<void> {
  if (isJson) return printJson({ ...data, ...(generated !== undefined && { password: generated }) });
  await print(sentence);
  if (generated !== undefined) await print(`  Password  ${generated}   (shown only this once)`);
}
