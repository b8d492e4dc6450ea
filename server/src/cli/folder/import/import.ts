/** `espalier folder import`: creates many folders at once, all or none, from a directory or a file. */

import { endpoints } from '@espalier/contract';
import { EspalierError, type Client, type FolderDetails, type PathToImport } from '@espalier/client';
import type { CheckedFolders, FileFormat } from '@espalier/client/files';
import { systemClock } from '../../../clock.ts';
import { StartError } from '../../../config/start-error.ts';
import { connectionSettings, withConnection, type Connection } from '../../api/connection.ts';
import { idIn } from '../../api/resolve-names.ts';
import { command, json, type Output } from '../../command.ts';
import { countFolders, escapeControls, formatNumber } from '../../terminal/output.ts';
import { createProgress, type Progress } from '../../terminal/progress.ts';
import { fileFormats } from '../folder-options.ts';
import { childPath, findFolder, findNearest, namesOf, noSuchFolder, pathOf } from '../folder-path.ts';
import type { Source } from './directory-source.ts';
import { ImportUpload } from './import-upload.ts';

/** Leaves space for the query in the request body. */
const maxBytes = endpoints.graph.request.limitBytes - 4_096;
const maxListed = 10;
/** Long, because a repeated upload is expensive. A restarted server recognizes a completed import by its key. */
const retrySeconds = 60;
/** Time to undo an import, which may need a request to the server. */
const stopSeconds = 60;

export const importFolders = command({
  about: 'Create many folders at once from a directory or a file',
  words: [
    { name: 'source', about: 'A directory, a file, or - for standard input', completes: 'file' },
    { name: 'to-path', about: 'The folder to import into; default: the root', isOptional: true },
  ],
  options: {
    format: {
      value: 'format',
      choices: fileFormats,
      about: 'The format; default: by the extension of the file',
    },
    parents: { short: 'p', about: 'Create <to-path> if it does not exist' },
    files: { about: 'In a directory, also create a folder for each file' },
    all: { short: 'a', about: 'In a directory, include names that start with a dot' },
    dryRun: { short: 'n', about: 'Check the import and count the new folders without creating them' },
    json,
  },
  settings: connectionSettings,
  details: `Imports all folders or none, even if it is interrupted. The contents of a directory go into <to-path>; symbolic links are not
followed. The first line of a CSV file names the columns: path, title, icon, description, properties (a JSON object) or
properties.<name>. A JSON file contains a list of folders, nested ({"name": …, "folders": […]}) or flat ({"path": …}). An
NDJSON file contains one flat folder per line. Reads all files that espalier folder export writes.`,
  examples: [
    'espalier folder import ./plans /Places --files',
    'espalier folder import rooms.csv /Places --dry-run',
    'espalier folder export /Places | espalier folder import - /Copy -p --format json',
  ],
  async run({ words: [source = '', to = '/'], options, flags }) {
    const input = { ...options, source, to };
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

interface ImportOptions {
  readonly source: string;
  readonly to: string;
  readonly format: FileFormat | undefined;
  readonly parents: boolean;
  readonly files: boolean;
  readonly all: boolean;
  readonly dryRun: boolean;
}

async function importInto(
  { client, signal }: Connection,
  input: ImportOptions,
  { progress, upload }: { readonly progress: Progress; readonly upload: ImportUpload },
): Promise<Output> {
  // Loaded only here, so that other commands about folders start faster.
  const [{ readSource }, { checkFolders }] = await Promise.all([
    import('./import-source.ts'),
    import('@espalier/client/files'),
  ]);
  const begunAt = systemClock.now();
  const { parent, missing } = await destination(client, input);
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
  const list = prefix ? below(prefix, source.folders) : source.folders;
  const expected = list.length > 0 ? source.folderCount + missing.length : 0;
  const into = pathOf([...namesOf(parent.path), ...missing]);
  if (Buffer.byteLength(JSON.stringify(list)) > maxBytes) throw tooLarge(list.length);
  let made = 0;
  if (input.dryRun) await checkTops(client, parent, list);
  else if (list.length > 0) {
    made = await upload.send(client, { parentId: parent.id, list }, signal).catch((error: unknown) => {
      throw explain(error);
    });
  }
  progress.end();
  const seconds = (systemClock.now() - begunAt) / 1000;
  const { dryRun: isDryRun } = input;
  const folderCount = isDryRun ? expected : made;
  return {
    data: { folderCount, path: into, isDryRun, seconds, skipped: source.skipped },
    text: describeResult({ ...source, expected, made, into, seconds, isDryRun }),
  };
}

async function destination(
  client: Client,
  { to, parents }: ImportOptions,
): Promise<{ parent: FolderDetails; missing: readonly string[] }> {
  if (idIn(to) !== undefined) return { parent: await findFolder(client, to), missing: [] };
  const { nearest: parent, missing } = await findNearest(client, to);
  if (missing.length === 0 || parents) return { parent, missing };
  const { code, message } = noSuchFolder(to);
  throw new EspalierError(code, `${message} To create it, use --parents.`);
}

function below(prefix: string, folders: readonly PathToImport[]): PathToImport[] {
  return folders.map((entry) => ({ ...entry, path: `${prefix}/${entry.path.replace(/^\//, '')}` }));
}

/** Checks that the names at the top are free, for as many as one query can read. */
async function checkTops(
  client: Client,
  parent: FolderDetails,
  list: readonly PathToImport[],
): Promise<void> {
  const tops = [...new Set(list.map(({ path }) => namesOf(path)[0]!))].slice(0, 100);
  if (tops.length === 0) return;
  const paths = Object.fromEntries(tops.map((name, index) => [`p${index}`, childPath(parent.path, name)]));
  const declared = Object.keys(paths).map((name) => `$${name}: String`);
  const fields = Object.keys(paths).map((name) => `${name}: folder(path: $${name}) { path }`);
  type Answer = Record<string, { path: string } | null>;
  const found = await client.query<Answer, object>(
    `query(${declared.join(', ')}) { ${fields.join(' ')} }`,
    paths,
  );
  const taken = Object.values(found).find((folder) => folder !== null);
  if (taken) throw new EspalierError('CONFLICT', `${taken.path} already exists, so the import would fail.`);
}

function explain(error: unknown): unknown {
  if (!(error instanceof EspalierError)) return error;
  const { code, message, status } = error;
  const [first = ''] = message.split(/(?<=\.) /);
  const explanation = {
    CONFLICT: `${first} Nothing was imported. To add to an existing folder, import into it.`,
    TOO_EXPENSIVE: `${first} Nothing was imported. Import in several parts, for example one directory at a time.`,
    UNREACHABLE: `${message} The server imports all folders or none. Check whether the import was made before you repeat it.`,
  }[code as string];
  return explanation === undefined ? error : new EspalierError(code, explanation, { status, cause: error });
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

function tooLarge(entries: number): StartError {
  return new StartError(
    `${formatNumber(entries)} folders are too many for one import. Nothing was imported. Import in several parts, for example one directory at a time.`,
  );
}

function describeResult(
  done: Source & {
    readonly expected: number;
    readonly made: number;
    readonly into: string;
    readonly seconds: number;
    readonly isDryRun: boolean;
  },
): string {
  const skipped = done.skipped.length > 0 ? ` Skipped: ${done.skipped.join(', ')}.` : '';
  if (done.folders.length === 0) return `There is nothing to import.${skipped}`;
  const into = `into ${escapeControls(done.into)}`;
  if (done.isDryRun) return `Would import ${countFolders(done.expected)} ${into}.${skipped}`;
  const seconds = done.seconds < 10 ? done.seconds.toFixed(1) : String(Math.round(done.seconds));
  return `Imported ${countFolders(done.made)} ${into} in ${seconds} s.${skipped}`;
}
