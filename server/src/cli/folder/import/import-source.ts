/** Reads the source of an import: a directory, or CSV, JSON or NDJSON from a file or standard input. */

import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { decodeText, FileError, fileFormatOf, parseFolders, type FileFormat } from '@espalier/client/files';
import { StartError, fileError } from '../../../config/start-error.ts';
import { escapeControls } from '../../terminal/output.ts';
import { unknownFormatError } from '../folder-options.ts';
import { readDirectory, type DirectoryOptions, type Source } from './directory-source.ts';

interface SourceOptions extends Omit<DirectoryOptions, 'onRead'> {
  readonly format: FileFormat | undefined;
  /** Called with the progress. */
  readonly onProgress: (step: string, done: number, total?: number) => void;
  readonly signal: AbortSignal;
}

/** Larger than any possible import, and smaller than the longest possible string. */
const maxBytes = 256 * 1024 * 1024;

const standardInput = '-';
export async function readSource(source: string, options: SourceOptions): Promise<Source> {
  if (source !== standardInput && options.format === undefined && (await isDirectory(source))) {
    const onRead = (count: number) => options.onProgress('Reading directories:', count);
    return readDirectory(source, { ...options, onRead });
  }
  const format = options.format ?? fileFormatOf(source);
  const name = source === standardInput ? 'standard input' : escapeControls(source);
  if (format === undefined) throw unknownFormatError(name);
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
    throw fileError(`Cannot read ${escapeControls(path)}`, cause);
  }
}

async function readBytes(
  path: string | undefined,
  name: string,
  { onRead, signal }: { onRead: (bytes: number, total?: number) => void; signal: AbortSignal },
): Promise<Uint8Array> {
  try {
    const total = path === undefined ? undefined : (await stat(path)).size;
    const stream: Readable = path === undefined ? process.stdin : createReadStream(path);
    signal.addEventListener('abort', () => stream.destroy(new Error('stopped')), { once: true });
    const parts: Buffer[] = [];
    let bytes = 0;
    for await (const part of stream as AsyncIterable<Buffer>) {
      parts.push(part);
      bytes += part.length;
      if (bytes > maxBytes)
        throw new StartError(`${name} is too large for one import. Import it in several parts.`);
      onRead(bytes, total);
    }
    return Buffer.concat(parts);
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof StartError ? error : fileError(`Cannot read ${name}`, error);
  }
}
