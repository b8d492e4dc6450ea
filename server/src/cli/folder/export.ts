/** `espalier folder export`: writes the contents of a folder in a format that import reads. */

import { open, realpath, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import type { PathToImport } from '@espalier/client';
import { wholeNumber } from '../../config/setting.ts';
import { StartError } from '../../config/start-error.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { folderWord } from '../api/resolve-names.ts';
import { command } from '../command.ts';
import { countFolders, createLines, escapeControls, print } from '../terminal/output.ts';
import { findFolder } from './folder-path.ts';
import { fileFormats } from './folder-options.ts';

const query = `query($id: ID!, $depth: Int) {
  exportFolders(id: $id, depth: $depth) { path title icon description properties } }`;
const exportTimeoutSeconds = 600;

export const exportFolders = command({
  about: 'Export the contents of a folder to a file',
  words: [{ ...folderWord, isOptional: true }],
  options: {
    format: { value: 'format', choices: fileFormats, about: 'The format; default: json' },
    output: {
      short: 'o',
      value: 'path',
      completes: 'file',
      about: 'Write to this file, which appears when it is complete',
    },
    force: { short: 'f', about: 'Replace an existing file' },
    depth: {
      value: 'number',
      about: 'Limit the number of levels; 1 is only the direct subfolders',
      kind: wholeNumber(1, 1_000),
    },
  },
  settings: connectionSettings,
  details: `Exports the folders inside the folder, but not the folder itself. Without a path, exports the whole tree. The export is one
consistent snapshot. A folder that you see only because it contains a visible folder is exported with its name only. In CSV, a
text that a spreadsheet would run as a formula starts with an apostrophe, which an import removes.`,
  examples: [
    'espalier folder export /Places --format csv -o places.csv',
    'espalier folder export > tree.json',
  ],
  async run({ words, options, flags }) {
    const { format = 'json', depth, output } = options;
    const isFile = output !== undefined && output !== '-';
    const file = isFile ? await OutputFile.open(output, { mayReplace: options.force }) : undefined;
    try {
      await withConnection(flags, async ({ client, signal }) => {
        const { id, path } = await findFolder(client, words[0]);
        const { exportFolders: entries } = await client.query<{ exportFolders: PathToImport[] }, object>(
          query,
          { id, depth },
          { signal, timeoutSeconds: exportTimeoutSeconds },
        );
        const lines = createLines(file && ((text) => file.write(text)));
        const { formatFolders } = await import('@espalier/client/files');
        for (const text of formatFolders(format, entries)) {
          signal.throwIfAborted();
          await lines.add(text);
        }
        await lines.end();
        await file?.finish();
        const [from, to] = [path, output ?? ''].map(escapeControls);
        if (file) await print(`Exported ${countFolders(entries.length)} from ${from} to ${to}.`);
      });
    } finally {
      await file?.discard();
    }
  },
});

/** Writes to a temporary file and renames it when it is complete. */
class OutputFile {
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
