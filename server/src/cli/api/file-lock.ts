/** A lock file that only one process at a time can hold. A waiting process takes over the lock of a process that has ended. */

import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../clock.ts';

/** After this time, a lock is abandoned even if its process seems to run: on another machine, or because its id was reused. */
const staleAfterMs = 60_000;
const pollMs = 25;

export class FileLock {
  readonly #path: string;
  readonly #clock: Clock;

  constructor(path: string, clock: Clock) {
    this.#path = path;
    this.#clock = clock;
  }

  async hold<T>(work: () => Promise<T>): Promise<T> {
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    while (!(await this.#take())) await delay(pollMs);
    try {
      return await work();
    } finally {
      await rm(this.#path, { force: true });
    }
  }

  async #take(): Promise<boolean> {
    const own = `${process.pid} ${hostname()}\n`;
    try {
      await writeFile(this.#path, own, { flag: 'wx', mode: 0o600 });
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
        // A full disk would leave a lock file without an owner.
        if ((error as NodeJS.ErrnoException).syscall === 'write') await rm(this.#path, { force: true });
        throw error;
      }
      if (await this.#isAbandoned(this.#path)) await this.#clear();
      return false;
    }
  }

  /** Two processes may find the same abandoned lock. The slower process must not remove the new lock of the faster one. */
  async #clear(): Promise<void> {
    const aside = `${this.#path}.${process.pid}`;
    try {
      await rename(this.#path, aside);
    } catch {
      return;
    }
    if (await this.#isAbandoned(aside)) await rm(aside, { force: true });
    else await rename(aside, this.#path);
  }

  async #isAbandoned(path: string): Promise<boolean> {
    try {
      const { mtimeMs } = await stat(path);
      if (this.#clock.now() - mtimeMs > staleAfterMs) return true;
      const [pid, host] = (await readFile(path, 'utf8')).trim().split(' ');
      return host === hostname() && !isAlive(Number(pid));
    } catch {
      return false;
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
