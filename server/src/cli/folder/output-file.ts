/** Writes to a temporary file and renames it when it is complete. */

import { open, realpath, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { StartError } from '../../config/start-error.ts';
import { escapeControls } from '../terminal/escape-text.ts';

export class OutputFile {
  readonly #path: string;
  readonly #temporaryPath: string;
  readonly #handle: FileHandle;
  #isOpen = true;

  static async open(path: string, { mayReplace }: { readonly mayReplace: boolean }): Promise<OutputFile> {
    const there = await stat(path).catch(() => undefined);
    if (there && !there.isFile()) throw new StartError(`${escapeControls(path)} is not a file.`);
    if (there && !mayReplace)
      throw new StartError(`${escapeControls(path)} already exists. To replace it, use --force.`);
    // Replaces the target of a link, not the link.
    const target = there ? await realpath(path) : path;
    const temporaryPath = `${target}.${process.pid}.new`;
    try {
      return new OutputFile(target, temporaryPath, await open(temporaryPath, 'wx'));
    } catch (cause) {
      throw cannotWrite(path, cause);
    }
  }

  private constructor(path: string, temporaryPath: string, handle: FileHandle) {
    this.#path = path;
    this.#temporaryPath = temporaryPath;
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
      await rename(this.#temporaryPath, this.#path);
      this.#isOpen = false;
    } catch (cause) {
      throw cannotWrite(this.#path, cause);
    }
  }

  /** Deletes the temporary file if it was not completed. */
  async discard(): Promise<void> {
    if (!this.#isOpen) return;
    await this.#handle.close().catch(() => undefined);
    await rm(this.#temporaryPath, { force: true }).catch(() => undefined);
  }
}

function cannotWrite(path: string, cause: unknown): StartError {
  return new StartError(`Cannot write ${escapeControls(path)}: ${(cause as Error).message}.`, { cause });
}
