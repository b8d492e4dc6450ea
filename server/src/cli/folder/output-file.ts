/** Writes to a temporary file and renames it when it is complete. */

import { open, realpath, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { StartError } from '../../config/start-error.ts';
import { escapeControls } from '../escape-text.ts';

export class OutputFile {
  readonly #path: string;
  readonly #beside: string;
  readonly #handle: FileHandle;
  #isOpen = true;

  static async open(path: string, { mayReplace }: { readonly mayReplace: boolean }): Promise<OutputFile> {
    const there = await stat(path).catch(() => undefined);
    if (there && !there.isFile()) throw new StartError(`${escapeControls(path)} is there, and is no file.`);
    if (there && !mayReplace)
      throw new StartError(`${escapeControls(path)} is there already. --force replaces it.`);
    // What a link leads to is replaced, and not the link.
    const place = there ? await realpath(path) : path;
    const beside = `${place}.${process.pid}.new`;
    try {
      return new OutputFile(place, beside, await open(beside, 'wx'));
    } catch (cause) {
      throw cannotWrite(path, cause);
    }
  }

  private constructor(path: string, beside: string, handle: FileHandle) {
    this.#path = path;
    this.#beside = beside;
    this.#handle = handle;
  }

  async write(text: string): Promise<void> {
    await this.#handle.appendFile(text).catch((cause: unknown) => {
      throw cannotWrite(this.#path, cause);
    });
  }

  async finish(): Promise<void> {
    try {
      await this.#handle.sync();
      await this.#handle.close();
      await rename(this.#beside, this.#path);
      this.#isOpen = false;
    } catch (cause) {
      throw cannotWrite(this.#path, cause);
    }
  }

  /** Deletes the temporary file if it was not completed. */
  async discard(): Promise<void> {
    if (!this.#isOpen) return;
    await this.#handle.close().catch(() => undefined);
    await rm(this.#beside, { force: true }).catch(() => undefined);
  }
}

function cannotWrite(path: string, cause: unknown): StartError {
  return new StartError(`${escapeControls(path)} cannot be written: ${(cause as Error).message}.`, { cause });
}
