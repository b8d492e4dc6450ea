/** `espalier folder import`: creates many folders at once, all or none, from a directory or a file. */

import { endpoints } from '@espalier/contract';
import type { Client, FolderDetails, ImportResult, PathToImport } from '@espalier/client';
import type { CheckedFolders } from '@espalier/client/files';
import { failure, isClientError } from '../../failures.ts';
import { systemClock } from '../../../clock.ts';
import { StartError } from '../../../config/start-error.ts';
import { connectionSettings, withConnection, type Connection } from '../../api/connection.ts';
import { idIn } from '../../api/resolve-names.ts';
import { command, json, type Options, type Output, type Values } from '../../command.ts';
import { countFolders, escapeControls, formatNumber } from '../../terminal/output.ts';
import { createProgress, type Progress } from '../../terminal/progress.ts';
import { fileFormats } from '../folder-options.ts';
import { findFolder, findNearest, namesOf, folderNotFoundError, pathOf } from '../folder-path.ts';
import type { Source } from './directory-source.ts';
import { importTimeoutSeconds, ImportUpload } from './import-upload.ts';

/** Leaves space for the query in the request body. */
const maxBytes = endpoints.graph.request.limitBytes - 4_096;
const maxListed = 10;
/** Long, because a repeated upload is expensive. A restarted server recognizes a completed import by its key. */
const retrySeconds = 60;
/** Time to undo an import, which may need a request to the server. */
const stopSeconds = 60;

const options = {
  format: {
    value: 'format',
    choices: fileFormats,
    about: 'The format; the default depends on the extension of the file',
  },
  parents: { short: 'p', about: 'Create <to-path> if it does not exist' },
  files: { about: 'In a directory, also create a folder for each file' },
  all: { short: 'a', about: 'In a directory, include names that start with a dot' },
  merge: {
    value: 'mode',
    choices: ['keep', 'update'],
    about: 'Accept folders that exist, and keep or update their texts and properties',
  },
  dryRun: {
    short: 'n',
    about: 'Check the import on the server and count the folders without changing any',
  },
  json,
} as const satisfies Options;

export const importFolders = command({
  about: 'Create many folders at once from a directory or a file',
  words: [
    { name: 'source', about: 'A directory, a file, or - for standard input', completions: 'file' },
    { name: 'to-path', about: 'The folder to import into; default: the root', isOptional: true },
  ],
  options,
  settings: connectionSettings,
  details: `Imports all folders or none, even if the command is interrupted. The contents of a directory go into <to-path>; symbolic links are not
followed. Without --merge, the import fails if one of the folders exists. With --merge keep, it creates the missing folders and
leaves the others unchanged. With --merge update, it also sets the texts and properties that the source contains. Run the command
with --dry-run first.

The first line of a CSV file names the columns: path, title, icon, description, properties (a JSON object) or
properties.<name>. A JSON file contains a list of folders, nested ({"name": …, "folders": […]}) or flat ({"path": …}). An
NDJSON file contains one flat folder per line. Reads all files that 'espalier folder export' writes.`,
  examples: [
    'espalier folder import ./plans /Places --files',
    'espalier folder import rooms.csv /Places --merge update --dry-run',
    'espalier folder export /Places | espalier folder import - /Copy -p --format json',
  ],
  async run({ words: [source = '', to = '/'], options: chosen, flags }) {
    const input = { ...chosen, source, to };
    const progress = createProgress();
    const upload = new ImportUpload(progress);
    try {
      return await withConnection(
        flags,
        (connection) => importInto(connection, input, { progress, upload }),
        { fetch: upload.fetch, retrySeconds, stopSeconds },
      );
    } finally {
      progress.end();
    }
  },
});

type CommandOptions = Values<typeof options> & { readonly source: string; readonly to: string };

async function importInto(
  { client, signal }: Connection,
  input: CommandOptions,
  { progress, upload }: { readonly progress: Progress; readonly upload: ImportUpload },
): Promise<Output> {
  // Loaded only here, so that other commands about folders start faster.
  const [{ readSource }, { checkFolders }] = await Promise.all([
    import('./import-source.ts'),
    import('@espalier/client/files'),
  ]);
  const begunAt = systemClock.now();
  const { parent, missing } = await findDestination(client, input);
  const source = await readSource(input.source, {
    format: input.format,
    withFiles: input.files,
    withHidden: input.all,
    onProgress: progress.show,
    signal,
  });
  requireValid(source);
  const prefix = missing.join('/');
  if (prefix) requireValid(checkFolders([{ where: '', folder: { path: prefix } }]));
  const list = prefix ? prefixPaths(prefix, source.folders) : source.folders;
  const into = pathOf([...namesOf(parent.path), ...missing]);
  if (Buffer.byteLength(JSON.stringify(list)) > maxBytes) throw tooLargeError(list.length);
  const result = await sendTo(client, parent.id, list, input, { upload, signal });
  progress.end();
  const seconds = (systemClock.now() - begunAt) / 1000;
  const { createdCount: folderCount, updatedCount, keptCount, isDryRun } = result;
  const { skipped } = source;
  return {
    data: { folderCount, updatedCount, keptCount, path: into, isDryRun, seconds, skipped },
    text: describeResult({ ...source, ...result, into, isNew: missing.length > 0, seconds }),
  };
}

async function sendTo(
  client: Client,
  parentId: string,
  list: readonly PathToImport[],
  { merge, dryRun }: CommandOptions,
  { upload, signal }: { readonly upload: ImportUpload; readonly signal: AbortSignal },
): Promise<ImportResult> {
  if (list.length === 0) return { createdCount: 0, updatedCount: 0, keptCount: 0, isDryRun: dryRun };
  const onExisting = merge && ({ keep: 'KEEP', update: 'UPDATE' } as const)[merge];
  try {
    if (!dryRun) return await upload.send(client, { parentId, onExisting, list }, signal);
    const options = { parentId, onExisting, dryRun, signal, timeoutSeconds: importTimeoutSeconds };
    return await client.folders.importList(list, options);
  } catch (error) {
    throw explain(error);
  }
}

async function findDestination(
  client: Client,
  { to, parents }: CommandOptions,
): Promise<{ parent: FolderDetails; missing: readonly string[] }> {
  if (idIn(to) !== undefined) return { parent: await findFolder(client, to), missing: [] };
  const { nearest: parent, missing } = await findNearest(client, to);
  if (missing.length === 0 || parents) return { parent, missing };
  throw failure('NOT_FOUND', `${folderNotFoundError(to).message} To create it, use --parents.`);
}

function prefixPaths(prefix: string, folders: readonly PathToImport[]): PathToImport[] {
  return folders.map((entry) => ({ ...entry, path: `${prefix}/${entry.path.replace(/^\//, '')}` }));
}

function explain(error: unknown): unknown {
  if (!isClientError(error)) return error;
  const { code, message } = error;
  const [first = ''] = message.split(/(?<=\.) /);
  const explanation = {
    CONFLICT: `${first} Nothing was imported. To import into existing folders, use --merge keep or --merge update.`,
    TOO_EXPENSIVE: `${first} Nothing was imported. Import in several parts, for example one directory at a time.`,
    UNREACHABLE: `${message} The server imports all folders or none. Check whether the import was completed before you repeat it.`,
  }[code as string];
  return explanation === undefined ? error : failure(code, explanation, { cause: error });
}

function requireValid({ problems, problemCount }: CheckedFolders): void {
  if (problemCount === 0) return;
  const listed = problems.slice(0, maxListed);
  const lines = listed.map(
    ({ where, path, message }) => `  ${[where, path, message].filter(Boolean).join(': ')}`,
  );
  const rest =
    problemCount > listed.length ? [`  and ${formatNumber(problemCount - listed.length)} more`] : [];
  const what = problemCount === 1 ? 'one folder is' : `${formatNumber(problemCount)} folders are`;
  throw new StartError([`Nothing was imported, because ${what} invalid:`, ...lines, ...rest].join('\n'));
}

function tooLargeError(entries: number): StartError {
  return new StartError(
    `${formatNumber(entries)} folders are too many for one import. Nothing was imported. Import in several parts, for example one directory at a time.`,
  );
}

function describeResult(
  done: Source & ImportResult & { readonly into: string; readonly isNew: boolean; readonly seconds: number },
): string {
  const skipped = done.skipped.length > 0 ? ` Skipped: ${done.skipped.join(', ')}.` : '';
  if (done.folders.length === 0) return `There is nothing to import.${skipped}`;
  const { updatedCount: updated, keptCount: kept } = done;
  const others = [
    updated > 0 ? `${formatNumber(updated)} ${done.isDryRun ? 'to update' : 'updated'}` : '',
    kept > 0 ? `${formatNumber(kept)} unchanged` : '',
  ];
  const other = others.filter(Boolean).join(', ');
  const path = escapeControls(done.into);
  const [into, including] = done.isNew ? ['', `, including ${path}`] : [` into ${path}`, ''];
  const what = `${countFolders(done.createdCount)}${into}${other && ` (${other})`}`;
  if (done.isDryRun) return `Would import ${what}${including}.${skipped}`;
  const seconds = done.seconds < 10 ? done.seconds.toFixed(1) : String(Math.round(done.seconds));
  return `Imported ${what} in ${seconds} s${including}.${skipped}`;
}
