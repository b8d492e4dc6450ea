/** Asks for names, passwords and confirmation on a terminal. A password can also come from a file or standard input, but not from an argument. */

import { readInputFile } from '../../config/read-setting.ts';
import { StartError, UsageError } from '../../config/start-error.ts';
import { ExitError } from '../failures.ts';
import type { Option, Output } from '../command.ts';

/** The options of every command that takes a password. */
export const passwordOptions = {
  passwordStdin: { about: 'Read the password from standard input', conflicts: ['passwordFile'] },
  passwordFile: { value: 'path', about: 'Read the password from this file', completions: 'file' },
} as const satisfies Record<string, Option>;

export const newPasswordOptions = {
  ...passwordOptions,
  generate: {
    about: 'Generate a password and print it once',
    conflicts: ['passwordStdin', 'passwordFile'],
  },
} as const satisfies Record<string, Option>;

export const yesOption = { short: 'y', about: 'Do not ask for confirmation' } as const satisfies Option;

interface PasswordInput {
  readonly passwordStdin: boolean;
  readonly passwordFile: string | undefined;
}

export async function readPassword(
  { passwordStdin, passwordFile }: PasswordInput,
  { prompt, isNew = false }: { readonly prompt: string; /** Asks twice. */ readonly isNew?: boolean },
): Promise<string> {
  if (passwordFile !== undefined) return requireNotEmpty(readInputFile('--password-file', passwordFile));
  if (passwordStdin) {
    const { text } = await import('node:stream/consumers');
    return requireNotEmpty((await text(process.stdin)).replace(/\r?\n$/, ''));
  }
  requireTerminal(
    'the password',
    `--password-stdin${isNew ? ', --password-file or --generate' : ' or --password-file'}`,
  );
  const password = requireNotEmpty(await askPassword(prompt));
  if (isNew && (await askPassword(`${prompt}, again`)) !== password) {
    throw new StartError('The two passwords are different. Nothing was changed.');
  }
  return password;
}

export interface NewPassword {
  readonly password: string;
  /** Set if the password was generated and must be printed. */
  readonly generated: string | undefined;
}

export async function readNewPassword(
  input: PasswordInput & { readonly generate: boolean },
  prompt: string,
): Promise<NewPassword> {
  if (!input.generate) {
    return { password: await readPassword(input, { prompt, isNew: true }), generated: undefined };
  }
  const { generatePassword } = await import('../../accounts/passwords.ts');
  const password = generatePassword();
  return { password, generated: password };
}

/** The output of a command, with the password if it was generated. */
export function withPassword(data: object, text: string, generated: string | undefined): Output {
  if (generated === undefined) return { data, text };
  return {
    data: { ...data, password: generated },
    text: `${text}\n  Password  ${generated}   (shown only this once)`,
  };
}

/** Pass the question without its question mark, for example `Delete the user anna`. Without a terminal, a flag must confirm it. */
export async function confirm(question: string, isYes: boolean): Promise<void> {
  if (isYes) return;
  if (!process.stdin.isTTY) {
    throw new UsageError(
      'This cannot be undone, and there is no terminal to ask for confirmation. To confirm, use --yes.',
    );
  }
  const { promptOptions, ...prompts } = await loadPrompts();
  const message = `${question}? This cannot be undone.`;
  const answer = unlessCanceled(
    prompts,
    await prompts.confirm({ ...promptOptions, message, initialValue: false }),
  );
  if (!answer) throw new ExitError(1, 'Canceled. Nothing was changed.', 'CANCELED');
}

export async function askText(message: string, defaultValue?: string): Promise<string> {
  const { promptOptions, ...prompts } = await loadPrompts();
  const placeholder = defaultValue === undefined ? {} : { defaultValue, placeholder: defaultValue };
  const answer = unlessCanceled(prompts, await prompts.text({ ...promptOptions, message, ...placeholder }));
  return answer || askText(message, defaultValue);
}

export async function askPassword(message: string): Promise<string> {
  const { promptOptions, ...prompts } = await loadPrompts();
  return unlessCanceled(prompts, await prompts.password({ ...promptOptions, message })) ?? '';
}

export function requireTerminal(what: string, flags: string): void {
  if (process.stdin.isTTY) return;
  throw new UsageError(`There is no terminal to ask for ${what}. Use ${flags}.`);
}

/** Prompts go to standard error, so that standard output can be redirected. */
async function loadPrompts() {
  const prompts = await import('@clack/prompts');
  // A terminal of unknown size reports 0 columns: clack would print one character on each line.
  process.stderr.columns ||= 80;
  return { ...prompts, promptOptions: { output: process.stderr, withGuide: false } };
}

/** Ctrl-C ends the command. */
function unlessCanceled<T>(
  { isCancel }: { readonly isCancel: (answer: unknown) => boolean },
  answer: T,
): Exclude<T, symbol> {
  if (isCancel(answer)) throw new ExitError(130);
  return answer as Exclude<T, symbol>;
}

function requireNotEmpty(password: string): string {
  if (password === '') throw new StartError('The password is empty.');
  return password;
}
