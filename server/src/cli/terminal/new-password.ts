/** Reads a new password: typed twice, from a file or standard input, or generated and printed once. */

import { generatePassword } from '../../accounts/passwords.ts';
import { UsageError } from '../../config/start-error.ts';
import type { Option } from '../command.ts';
import { print, printJson } from './output.ts';
import { passwordOptions, readPassword, type PasswordInput } from './secret-input.ts';

export const newPasswordOptions = {
  ...passwordOptions,
  generate: { about: 'Generate a password and print it once' },
} as const satisfies Record<string, Option>;

export interface NewPassword {
  readonly password: string;
  /** Set if the password was generated and must be printed. */
  readonly generated: string | undefined;
}

export async function readNewPassword(
  input: PasswordInput & { readonly generate: boolean },
  prompt: string,
): Promise<NewPassword> {
  if (!input.generate)
    return { password: await readPassword(input, { prompt, isNew: true }), generated: undefined };
  if (input.passwordStdin || input.passwordFile !== undefined) {
    throw new UsageError('Use either --generate or a given password, not both.');
  }
  const password = generatePassword();
  return { password, generated: password };
}

/** Prints the result, with the password if it was generated. */
export async function reportWithPassword(
  { isJson, generated }: { readonly isJson: boolean; readonly generated: string | undefined },
  data: object,
  sentence: string,
): Promise<void> {
  if (isJson) return printJson({ ...data, ...(generated !== undefined && { password: generated }) });
  await print(sentence);
  if (generated !== undefined) await print(`  Password  ${generated}   (shown only this once)`);
}
