/** Errors that an operator must fix before the server can start. They are printed without a stack. */

import { existsSync } from 'node:fs';
import { dirname } from 'node:path';

export class StartError extends Error {
  override readonly name: string = 'StartError';
}

/** The command line or a setting is invalid. */
export class UsageError extends StartError {
  override readonly name = 'UsageError';
}

/** Pass no `value` if the setting is a secret. */
export function invalidValue(name: string, accepts: string, value?: string): UsageError {
  const quoted = value === undefined ? '' : ` ${JSON.stringify(value)}`;
  return new UsageError(`Invalid value${quoted} for ${name}: use ${accepts}.`);
}

/** `problem` is, for example, "Cannot read names.csv". */
export function fileError(problem: string, cause: unknown): StartError {
  return new StartError(`${problem}: ${describeFileError(cause)}.`, { cause });
}

const fileErrors: Readonly<Partial<Record<string, string>>> = {
  EACCES: 'permission denied',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file would be larger than the operating system allows',
  EIO: 'the disk reports an error',
  EISDIR: 'it is a folder',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is not a folder',
  EPERM: 'permission denied',
  EROFS: 'the disk is mounted read-only',
};

/** Errors without a description in the table keep the text of Node. */
export function describeFileError(error: unknown): string {
  const { code = '', message, path, syscall } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT' || path === undefined) return fileErrors[code] ?? message;
  const folder = dirname(String(path));
  if (!existsSync(folder)) return `the folder ${folder} does not exist`;
  // For example in /proc.
  if (syscall === 'mkdir') return `no folder can be created in ${folder}`;
  return `the ${syscall === 'scandir' ? 'folder' : 'file'} does not exist`;
}
