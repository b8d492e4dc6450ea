/**
 * Stores a login between commands, in a file that only its owner can read. Concurrent commands share the file; a lock file lets
 * only one command refresh the tokens. After a logout, the file still names the server and the user, as defaults of the next login.
 */

import { chmod, mkdir, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Tokens, TokenStorage } from '@espalier/client';
import { failure, type ExitError } from '../failures.ts';
import type { Clock } from '../../clock.ts';
import { fileError, type StartError } from '../../config/start-error.ts';
import { FileLock } from './file-lock.ts';

export interface Profile {
  readonly url: string;
  readonly username: string;
  /** Missing after a logout, and after the session has ended. */
  readonly tokens?: Tokens | undefined;
}

const groupAndOthersBits = 0o077;

export class ProfileFile {
  readonly path: string;
  readonly #name: string | undefined;
  readonly #lock: FileLock;

  constructor(folder: string, name: string, clock: Clock) {
    this.#name = name === 'default' ? undefined : name;
    this.path = join(folder, `${name}.json`);
    this.#lock = new FileLock(`${this.path}.lock`, clock);
  }

  /** Returns undefined if there is no file. Throws LOGGED_OUT if the file is invalid. */
  async read(): Promise<Profile | undefined> {
    let text: string;
    try {
      text = await readFile(this.path, 'utf8');
    } catch (cause) {
      if (codeOf(cause) === 'ENOENT') return undefined;
      throw fileError(`Cannot read the session in ${this.path}`, cause);
    }
    const profile = toProfile(text);
    if (profile) return profile;
    throw this.loggedOutError(`The file ${this.path} does not contain a valid session.`, '<url>');
  }

  /** Returns an error with the command to log in again. Without `url`, that command uses the server of the last login. */
  loggedOutError(problem: string, url?: string): ExitError {
    const flags = Object.entries({ profile: this.#name, url }).filter(([, value]) => value !== undefined);
    const login = ['espalier login', ...flags.map(([flag, value]) => `--${flag} ${value}`)].join(' ');
    return failure('LOGGED_OUT', `${problem} Run '${login}'.`);
  }

  notLoggedInError(url?: string): ExitError {
    if (this.#name === undefined) return this.loggedOutError('You are not logged in.', url);
    return this.loggedOutError(`You are not logged in with the profile ${this.#name}.`, url ?? '<url>');
  }

  sessionEndedError(): ExitError {
    return this.loggedOutError(`The session${this.#name ? ` of the profile ${this.#name}` : ''} has ended.`);
  }

  /** Makes the file private. Returns whether other users could read it. */
  async makePrivate(): Promise<boolean> {
    const mode = (await stat(this.path).catch(() => undefined))?.mode ?? 0;
    if ((mode & groupAndOthersBits) === 0 || process.platform === 'win32') return false;
    await chmod(this.path, 0o600).catch(() => undefined);
    return true;
  }

  /** Waits for a refresh in progress, then stores a new session. Returns the profile that it replaces. */
  async replace(profile: Profile): Promise<Profile | undefined> {
    return this.#locked(async () => {
      const replaced = await this.read().catch(() => undefined);
      await this.write(profile);
      return replaced;
    });
  }

  /** Writes the file atomically, even if the disk is full. */
  async write(profile: Profile): Promise<void> {
    const temporaryPath = `${this.path}.${process.pid}.new`;
    try {
      await mkdir(dirname(this.path), { recursive: true, mode: 0o700 });
      await writeFile(temporaryPath, toText(profile), { mode: 0o600, flush: true });
      await rename(temporaryPath, this.path);
    } catch (cause) {
      await rm(temporaryPath, { force: true }).catch(() => undefined);
      throw this.#cannotStore(cause);
    }
  }

  /** Removes the tokens, or the whole file if it cannot be written or is invalid. */
  async removeTokens(): Promise<void> {
    try {
      const { url, username } = (await this.read())!;
      await this.write({ url, username });
    } catch {
      await rm(this.path, { force: true });
    }
  }

  /** The storage through which the client reads and writes the tokens of this profile. */
  storage(): TokenStorage {
    return {
      read: async () => (await this.read())?.tokens,
      write: async (tokens) => {
        const profile = await this.read();
        if (tokens === undefined) await this.removeTokens();
        else if (profile) await this.#overwrite({ ...profile, tokens });
      },
      lock: (work) => this.#locked(work),
    };
  }

  #locked<T>(work: () => Promise<T>): Promise<T> {
    return this.#lock.hold(work).catch((error: unknown) => {
      throw this.#toStorageError(error);
    });
  }

  /** On a full disk, overwrites the file in place: its tokens are spent, so a failure loses nothing. */
  async #overwrite(profile: Profile): Promise<void> {
    try {
      await this.write(profile);
    } catch (error) {
      if (codeOf((error as Error).cause) !== 'ENOSPC') throw error;
      const file = await open(this.path, 'r+');
      try {
        const { bytesWritten } = await file.write(toText(profile), 0);
        await file.truncate(bytesWritten);
      } catch {
        throw error;
      } finally {
        await file.close();
      }
    }
  }

  /** Explains a file error of the lock. Returns other errors unchanged. */
  #toStorageError(error: unknown): unknown {
    return error instanceof Error && 'syscall' in error ? this.#cannotStore(error) : error;
  }

  #cannotStore(cause: unknown): StartError {
    return fileError(`Cannot store the session in ${this.path}`, cause);
  }
}

function toText(profile: Profile): string {
  return `${JSON.stringify(profile, null, 2)}\n`;
}

function toProfile(text: string): Profile | undefined {
  try {
    const profile = JSON.parse(text) as Profile;
    const { url, username, tokens } = profile;
    const texts = [url, username, ...(tokens ? [tokens.authToken, tokens.refreshToken] : [])];
    const numbers = tokens ? [tokens.expiresAt, tokens.lifetimeSeconds] : [];
    const isValid =
      texts.every((each) => typeof each === 'string') && numbers.every((each) => typeof each === 'number');
    return isValid && URL.canParse(url) ? profile : undefined;
  } catch {
    return undefined;
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}
