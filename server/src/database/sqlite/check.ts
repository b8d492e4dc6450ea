/**
 * Looks for damage in a whole file, of whatever size. It may take minutes, and what reads a damaged file may end badly: so
 * a process of its own does it, and can be ended at any moment.
 */

import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { StartError } from '../../config/start-error.ts';

/** Beside this file, and in the same language. */
const program = fileURLToPath(
  new URL(import.meta.url.endsWith('.ts') ? './check-program.ts' : './check-program.js', import.meta.url),
);

/** What is wrong with the file, in the words of SQLite; nothing if it is whole. Only reads it. */
export async function findDamage(
  file: string,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<readonly string[]> {
  const child = spawn(process.execPath, [program, file], { stdio: ['ignore', 'pipe', 'pipe'], signal });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const [code, output, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  if (code !== 0) {
    const why = errors.trim().split('\n').at(-1) || `its process ended with ${child.signalCode ?? code}`;
    throw new StartError(`The file ${file} cannot be checked: ${why}.`);
  }
  return JSON.parse(output) as string[];
}
