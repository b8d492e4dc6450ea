/** Reads the source of an import: a directory, or CSV, JSON or NDJSON from a file or standard input. */

import { stat } from 'node:fs/promises';
import {
  decodeText,
  FileError,
  fileFormatOf,
  fileFormats,
  parseFolders,
  type FileFormat,
} from '@espalier/client/files';
import { StartError, UsageError } from '../../../config/start-error.ts';
import { escapeControls } from '../../terminal/escape-text.ts';
import { readDirectory, type DirectoryOptions, type Source } from './directory-source.ts';
import { readBytes } from './read-input.ts';

export interface SourceOptions extends Omit<DirectoryOptions, 'onRead'> {
  readonly format: FileFormat | undefined;
  /** Called with the progress. */
  readonly onProgress: (step: string, done: number, total?: number) => void;
  readonly signal: AbortSignal;
}

const standardInput = '-';

export async function readSource(source: string, options: SourceOptions): Promise<Source> {
  if (source !== standardInput && options.format === undefined && (await isDirectory(source))) {
    const onRead = (count: number) => options.onProgress('Reading directories:', count);
    return readDirectory(source, { ...options, onRead });
  }
  const format = options.format ?? fileFormatOf(source);
  const name = source === standardInput ? 'standard input' : escapeControls(source);
  if (format === undefined) {
    throw new UsageError(
      `Cannot determine the format of ${name}. Use --format with one of ${fileFormats.join(', ')}.`,
    );
  }
  const onRead = (bytes: number, total?: number) => options.onProgress('Reading', bytes, total);
  const bytes = await readBytes(source === standardInput ? undefined : source, name, {
    onRead,
    signal: options.signal,
  });
  try {
    return { ...parseFolders(format, decodeText(bytes)), skipped: [] };
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    throw new StartError(`${name}: ${error.message} Nothing was imported.`, { cause: error });
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (cause) {
    throw new StartError(`Cannot read ${escapeControls(path)}: ${(cause as Error).message}.`, { cause });
  }
}
