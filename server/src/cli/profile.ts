/**
 * A login that is kept between commands: a file that nobody else may read. Several commands at a time share it: one of
 * them exchanges the tokens, under a lock that is a file beside it.
 */

import { mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Tokens, TokenStorage } from '@espalier/client';
import type { Clock } from '../clock.ts';
import { StartError } from '../start-error.ts';

export interface Profile {
  readonly url: string;
  readonly username: string;
  readonly tokens: Tokens;
}

/** However a command may have ended that held it. */
const staleAfterMs = 60_000;
const lookEveryMs = 50;

export class ProfileFile {
  readonly path: string;
  readonly #clock: Clock;

  constructor(folder: string, name: string, clock: Clock) {
    this.path = join(folder, `${name}.json`);
    this.#clock = clock;
  }

  async read(): Promise<Profile | undefined> {
    let text: string;
    try {
      text = await readFile(this.path, 'utf8');
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw this.#unusable(cause);
    }
    try {
      return JSON.parse(text) as Profile;
    } catch {
      throw new StartError(`The file ${this.path} holds no login any more. Remove it, and log in again.`);
    }
  }

  /** All of it or nothing, also when the disk is full. */
  async write(profile: Profile): Promise<void> {
    const beside = `${this.path}.${process.pid}.new`;
    try {
      await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
      await writeFile(beside, `${JSON.stringify(profile, null, 2)}\n`, { mode: 0o600, flush: true });
      await rename(beside, this.path);
    } catch (cause) {
      await rm(beside, { force: true }).catch(() => undefined);
      throw this.#unusable(cause);
    }
  }

  async remove(): Promise<void> {
    await rm(this.path, { force: true });
  }

  /** For the client: the tokens of this profile. */
  storage(): TokenStorage {
    return {
      read: async () => (await this.read())?.tokens,
      write: async (tokens) => {
        const profile = await this.read();
        if (tokens === undefined) await this.remove();
        else if (profile) await this.write({ ...profile, tokens });
      },
      lock: (work) => this.#locked(work),
    };
  }

  async #locked<T>(work: () => Promise<T>): Promise<T> {
    const lock = `${this.path}.lock`;
    while (!(await this.#take(lock))) await delay(lookEveryMs);
    try {
      return await work();
    } finally {
      await rm(lock, { force: true });
    }
  }

  async #take(lock: string): Promise<boolean> {
    try {
      const file = await open(lock, 'wx', 0o600);
      await file.close();
      return true;
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw this.#unusable(cause);
      const takenAt = (await stat(lock).catch(() => undefined))?.mtimeMs;
      const isStale = takenAt !== undefined && this.#clock.now() - takenAt > staleAfterMs;
      if (isStale) await rm(lock, { force: true });
      return false;
    }
  }

  #unusable(cause: unknown): StartError {
    return new StartError(`The login in ${this.path} cannot be kept: ${(cause as Error).message}.`, {
      cause,
    });
  }
}
