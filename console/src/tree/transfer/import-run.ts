/**
 * Reads a file to import, with a limit for its size, and sends its folders to the server: first as a dry run, then as one change
 * that can be canceled, repeated and undone.
 */

import { newIdempotencyKey, type ImportOptions, type ImportResult } from '@espalier/client';
import {
  cancelImport,
  decodeText,
  FileError,
  fileFormatOf,
  FolderChecker,
  parseRows,
  type CheckedFolders,
  type FileFormat,
} from '@espalier/client/files';
import { endpoints } from '@espalier/contract';
import { deleteFolder } from '../../actions/folder-actions.ts';
import { rememberDone, reportFailure } from '../../actions/perform.ts';
import type { UndoStep } from '../../actions/task.ts';
import { toasts } from '../../actions/toasts.ts';
import { queries } from '../../graph/use-graph.ts';
import { client } from '../../session/client.ts';
import { whileSignedIn } from '../../session/session-data.ts';
import type { FolderRef } from '../edit/folder-operations.ts';

/** A file that was read. It can be imported if it has no problems. */
export interface ImportFile extends CheckedFolders {
  readonly name: string;
}

export const acceptedTypes = ['.csv', '.json', '.ndjson', '.jsonl'];

const maxFileBytes = endpoints.graph.request.limitBytes;
/** Leaves space for the query in the request body. */
const maxListBytes = maxFileBytes - 4_096;
const maxFileText = `${maxFileBytes / 1024 / 1024} MiB`;

interface ReadOptions {
  /** Called with the number of folders that were read. */
  readonly onProgress: (count: number) => void;
  readonly signal: AbortSignal;
}

/** Rejects with a `FileError` that explains why the file cannot be imported. */
export async function readImportFile(file: File, options: ReadOptions): Promise<ImportFile> {
  const format = fileFormatOf(file.name);
  if (format === undefined) {
    throw new FileError(`“${file.name}” is not a CSV, JSON or NDJSON file (${acceptedTypes.join(', ')}).`);
  }
  // Before the file is read, because the browser keeps the whole file in memory.
  if (file.size > maxFileBytes) {
    throw new FileError(
      `“${file.name}” has ${formatBytes(file.size)}. The maximum for an import is ${maxFileText}. Import the folders in several parts.`,
    );
  }
  const bytes = await readBytes(file);
  const checked = await checkText(format, decodeText(bytes), options);
  const { folders, problemCount } = checked;
  if (folders.length === 0 && problemCount === 0) {
    throw new FileError(`“${file.name}” contains no folders.`);
  }
  // The texts of a CSV file take more space in the JSON of the request.
  if (new TextEncoder().encode(JSON.stringify(folders)).length > maxListBytes) {
    throw new FileError(
      `The ${folders.length.toLocaleString('en')} folders in “${file.name}” take more than ${maxFileText} in the request. Import them in several parts.`,
    );
  }
  return { ...checked, name: file.name };
}

async function readBytes(file: File): Promise<Uint8Array> {
  try {
    return new Uint8Array(await file.arrayBuffer());
  } catch (cause) {
    const reason = cause instanceof DOMException ? cause.message : 'unknown error';
    throw new FileError(`“${file.name}” cannot be read: ${reason}`, { cause });
  }
}

const sliceMs = 40;

/** Parses in slices of time, because a large file takes seconds, and the page must not freeze. */
async function checkText(
  format: FileFormat,
  text: string,
  { onProgress, signal }: ReadOptions,
): Promise<CheckedFolders> {
  const checker = new FolderChecker();
  let count = 0;
  let sliceEnd = performance.now() + sliceMs;
  for (const row of parseRows(format, text)) {
    checker.add(row);
    count++;
    if (performance.now() < sliceEnd) continue;
    onProgress(count);
    await new Promise((resolve) => setTimeout(resolve, 0));
    signal.throwIfAborted();
    sliceEnd = performance.now() + sliceMs;
  }
  return checker.result();
}

function formatBytes(bytes: number): string {
  const mebibytes = bytes / 1024 / 1024;
  return mebibytes < 1024 ? `${Math.ceil(mebibytes)} MiB` : `${(mebibytes / 1024).toFixed(1)} GiB`;
}

/** The folder that receives an import, or whose content is exported. */
export type TransferFolder = Pick<FolderRef, 'id' | 'name'>;

/** What to do with folders that exist: refuse the import, keep them, or set the texts of the file. */
export type OnExisting = NonNullable<ImportOptions['onExisting']>;

/** An import with more top-level folders cannot be undone in the console. */
const maxUndoneFolders = 20;

/** Counts the folders that the import would create and change. If the import would fail, rejects with its error. */
export function previewImport(
  { id: parentId }: TransferFolder,
  { folders }: ImportFile,
  onExisting: OnExisting,
  signal: AbortSignal,
): Promise<ImportResult> {
  return client.folders.importList(folders, { parentId, onExisting, dryRun: true, signal });
}

export class ImportRun {
  readonly #folder: TransferFolder;
  readonly #file: ImportFile;
  readonly #onExisting: OnExisting;
  readonly #key = newIdempotencyKey();
  readonly #leaving = new AbortController();
  #isSettled = false;

  constructor(folder: TransferFolder, file: ImportFile, onExisting: OnExisting) {
    this.#folder = folder;
    this.#file = file;
    this.#onExisting = onExisting;
  }

  /** The server runs the import at most once, so you can call this again after a failure. */
  async send(): Promise<ImportResult & { readonly canUndo: boolean }> {
    const { id } = this.#folder;
    const options = {
      parentId: id,
      onExisting: this.#onExisting,
      signal: this.#leaving.signal,
      idempotencyKey: this.#key,
    };
    try {
      const result = await whileSignedIn(client.folders.importList(this.#file.folders, options));
      this.#isSettled = true;
      return { ...result, canUndo: await this.#makeUndoable(result) };
    } finally {
      void queries.invalidateQueries({ queryKey: ['folder', id] });
    }
  }

  /** Stops waiting, for example because the user has signed out. */
  leave(): void {
    this.#leaving.abort();
  }

  /** Cancels the import on the server, and reports the outcome as a message. */
  async cancel(): Promise<void> {
    if (this.#isSettled) return;
    const { id, name } = this.#folder;
    const subject = `the import of “${this.#file.name}” into “${name}”`;
    try {
      if (await whileSignedIn(cancelImport(client, { idempotencyKey: this.#key, parentId: id }))) {
        toasts.add({ tone: 'note', text: `Canceled ${subject}. Nothing was imported.` });
      } else reportFailure(`The server completed ${subject} before it could be canceled.`);
    } catch {
      reportFailure(
        `Cannot reach the server to cancel ${subject}. The server imports all folders or none: check the folder.`,
      );
    } finally {
      this.#leaving.abort();
    }
  }

  /** Makes the import undoable if possible, and returns whether it is. The dialog reports the result. */
  async #makeUndoable({ createdCount, updatedCount, keptCount }: ImportResult): Promise<boolean> {
    const isNew = updatedCount === 0 && keptCount === 0;
    const tops = isNew ? await findTops(this.#folder, this.#file).catch(() => []) : [];
    const undoSteps = tops.map((folder): UndoStep => ({
      subject: `“${folder.name}”`,
      task: () => ({
        action: deleteFolder,
        variables: { input: { id: folder.id, recursive: true, expectedVersion: folder.version } },
        staleQueries: [['folder', this.#folder.id], ['trash']],
      }),
    }));
    rememberDone(`Imported ${formatCount(createdCount)} into “${this.#folder.name}”`, undoSteps);
    return undoSteps.length > 0;
  }
}

interface TopFolder {
  readonly id: string;
  readonly name: string;
  readonly version: number;
}

/** Returns the new top-level folders of the import, or none if there are too many. */
async function findTops({ id }: TransferFolder, { folders }: ImportFile): Promise<readonly TopFolder[]> {
  const names = new Set(
    folders.map(({ path }) => path.replace(/^\//, '').split('/', 1)[0]!.normalize('NFC')),
  );
  if (names.size > maxUndoneFolders) return [];
  const parent = await client.folders.byId(id);
  if (!parent) return [];
  const parentPath = parent.path === '/' ? '' : parent.path;
  const paths = [...names].map((name) => `${parentPath}/${name}`);
  const declared = paths.map((_, index) => `$p${index}: String`).join(', ');
  const fields = paths
    .map((_, index) => `f${index}: folder(path: $p${index}) { id name version }`)
    .join('\n');
  const variables = Object.fromEntries(paths.map((path, index) => [`p${index}`, path]));
  const found = await client.query<Record<string, TopFolder | null>>(
    `query ImportedFolders(${declared}) { ${fields} }`,
    variables,
  );
  const tops = Object.values(found);
  return tops.every((folder) => folder !== null) ? tops : [];
}

export function formatCount(count: number): string {
  return count === 1 ? 'one folder' : `${count.toLocaleString('en')} folders`;
}
