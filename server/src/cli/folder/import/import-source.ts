/** Reads the source of an import: a directory, or CSV, JSON or NDJSON from a file or standard input. */

import { stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { StartError, UsageError } from '../../../config/start-error.ts';
import { escapeControls } from '../../terminal/escape-text.ts';
import { CsvError } from '../../terminal/csv.ts';
import { readDirectory, type DirectoryOptions, type Source } from './directory-source.ts';
import { entriesOfCsv, entriesOfJson, entriesOfNdjson, EntryError } from './entry-formats.ts';
import type { Entry } from './import-call.ts';
import { readText } from './read-input.ts';

export const formats = ['csv', 'json', 'ndjson'] as const;
export type Format = (typeof formats)[number];

export interface SourceOptions extends Omit<DirectoryOptions, 'onRead'> {
  readonly format: Format | undefined;
  /** Called with the progress. */
  readonly onProgress: (step: string, done: number, total?: number) => void;
  readonly signal: AbortSignal;
}

const standardInput = '-';
const extensions: Readonly<Record<string, Format>> = {
  '.csv': 'csv',
  '.json': 'json',
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
};

export async function readSource(source: string, options: SourceOptions): Promise<Source> {
  if (source !== standardInput && options.format === undefined && (await isDirectory(source))) {
    const onRead = (count: number) => options.onProgress('Reading directories:', count);
    return readDirectory(source, { ...options, onRead });
  }
  const format = options.format ?? extensions[extname(source).toLowerCase()];
  const name = source === standardInput ? 'standard input' : escapeControls(source);
  if (format === undefined) {
    throw new UsageError(
      `Cannot determine the format of ${name}. Use --format with one of ${formats.join(', ')}.`,
    );
  }
  const onRead = (bytes: number, total?: number) => options.onProgress('Reading', bytes, total);
  const text = await readText(source === standardInput ? undefined : source, name, {
    onRead,
    signal: options.signal,
  });
  try {
    return { entries: parse[format](text), skipped: [] };
  } catch (error) {
    if (!(error instanceof CsvError || error instanceof EntryError)) throw error;
    throw new StartError(`${name}: ${error.message} Nothing was imported.`, { cause: error });
  }
}

const parse: Readonly<Record<Format, (text: string) => Entry[]>> = {
  csv: entriesOfCsv,
  json: entriesOfJson,
  ndjson: entriesOfNdjson,
};

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (cause) {
    throw new StartError(`Cannot read ${escapeControls(path)}: ${(cause as Error).message}.`, { cause });
  }
}
