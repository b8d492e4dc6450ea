/**
 * Lets this process write to no file beyond a size, as a full disk does, and again. The operating system sees to it:
 * https://man7.org/linux/man-pages/man1/prlimit.1.html. Sockets and pipes go on.
 */

import { execFileSync } from 'node:child_process';

/** While `work` runs. */
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
