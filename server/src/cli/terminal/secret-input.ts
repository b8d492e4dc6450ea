/** Reads passwords from a hidden prompt, standard input or a file, but never from an argument. */

import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { Writable } from 'node:stream';
import { readInputFile } from '../../config/config.ts';
import { StartError } from '../../config/start-error.ts';
import type { Option } from '../command.ts';
import { ExitError } from '../failures.ts';

/** The options of every command that takes a password. */
export const passwordOptions = {
  passwordStdin: { about: 'Read the password from standard input' },
  passwordFile: { value: 'path', about: 'Read the password from this file', completes: 'file' },
} as const satisfies Record<string, Option>;

export interface PasswordInput {
  readonly passwordStdin: boolean;
  readonly passwordFile: string | undefined;
}

export async function readPassword(
  { passwordStdin, passwordFile }: PasswordInput,
  { prompt, isNew = false }: { readonly prompt: string; /** Prompts twice. */ readonly isNew?: boolean },
): Promise<string> {
  if (passwordStdin && passwordFile !== undefined) {
    throw new StartError('Use either --password-stdin or --password-file, not both.');
  }
  if (passwordFile !== undefined) return required(readInputFile('--password-file', passwordFile));
  if (passwordStdin) return required((await text(process.stdin)).replace(/\r?\n$/, ''));
  if (!process.stdin.isTTY) {
    throw new StartError(
      `There is no terminal to ask for the password. Use --password-stdin${isNew ? ', --password-file or --generate' : ' or --password-file'}.`,
    );
  }
  const password = required(await ask(`${prompt}: `, { isHidden: true }));
  if (isNew && (await ask(`${prompt}, again: `, { isHidden: true })) !== password) {
    throw new StartError('The two passwords are different. Nothing was changed.');
  }
  return password;
}

/** Prompts on standard error, so that standard output can be redirected. Ctrl-C ends the command. */
export function ask(question: string, { isHidden = false } = {}): Promise<string> {
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({
    input: process.stdin,
    output: isHidden ? silent : process.stderr,
    terminal: true,
  });
  // The prompt comes after echo is off. Otherwise the terminal would display the first characters.
  if (isHidden) {
    process.stderr.write(question);
  } else {
    lines.setPrompt(question);
    lines.prompt();
  }
  return new Promise((resolve, reject) => {
    let answer: string | undefined;
    lines.once('line', (line) => {
      answer = line;
      lines.close();
    });
    lines.once('SIGINT', () => lines.close());
    lines.once('close', () => {
      if (isHidden || answer === undefined) process.stderr.write('\n');
      if (answer === undefined) reject(new ExitError(130));
      else resolve(answer);
    });
  });
}

function required(password: string): string {
  if (password === '') throw new StartError('The password is empty.');
  return password;
}
