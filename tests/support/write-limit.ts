/**
 * Limits the size of files that this process may write, like a full disk. Uses
 * https://man7.org/linux/man-pages/man1/prlimit.1.html. Sockets and pipes are not affected.
 */

import { execFileSync } from 'node:child_process';

/** Applies the limit while `work` runs. */
export async function withWriteLimit<T>(bytes: number, work: () => Promise<T>): Promise<T> {
  setLimit(String(bytes));
  try {
    return await work();
  } finally {
    setLimit('unlimited');
  }
}

function setLimit(soft: string): void {
  execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${soft}:`]);
}
