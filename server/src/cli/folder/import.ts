/** `espalier folder import`: many folders at once, all or none, from a directory or a file. */

import { endpoints } from '@espalier/contract';
import { EspalierError, type Client, type FolderDetails } from '@espalier/client';
import { systemClock } from '../../clock.ts';
import { StartError, UsageError } from '../../config/start-error.ts';
import { command, json } from '../command.ts';
import { connectionSettings, withConnection, type Connection } from '../connection.ts';
import { print, printJson } from '../output.ts';
import { count, countFolders, createProgress, type Progress } from '../progress.ts';
import { escapeControls } from '../escape-text.ts';
import { checkEntries } from './validate-entries.ts';
import { idIn } from '../resolve-names.ts';
import { childPath, findFolder, findNearest, namesOf, noSuchFolder, pathOf } from './folder-path.ts';
import type { Entry } from './import-call.ts';
import type { Source } from './directory-source.ts';
import { formats, readSource, type Format } from './import-source.ts';
import { ImportUpload } from './import-upload.ts';

/** The rest of the body is the query. */
const maxBytes = endpoints.graph.request.limitBytes - 4_096;
/** Long, because a repeated upload is expensive. A restarted server recognizes a completed import by its key. */
const retrySeconds = 60;
/** Time to undo an import, which may need a request to the server. */
const stopSeconds = 60;

export const importFolders = command({
  words: [
    { name: 'source', about: 'A directory, a file, or - for standard input', completes: 'file' },
    { name: 'to-path', about: 'Into which folder; the root, unless given', isOptional: true },
  ],
  options: {
    format: {
      value: 'format',
      completes: formats,
      about: `${formats.join(', ')}; by the ending of the file's name, unless given`,
    },
    parents: { short: 'p', about: 'Make <to-path>, too, if it is not there' },
    files: { about: 'Of a directory: make a folder of each file, too' },
    all: { short: 'a', about: 'Of a directory: take what begins with a dot, too' },
    dryRun: { short: 'n', about: 'Only check all of it, and tell how many folders it would make' },
    json,
  },
  settings: connectionSettings,
  details: `All of it or nothing, also if it is interrupted. What is inside the directory goes into <to-path>; symbolic links are
not followed. CSV has a first line with the names of its columns: path, title, icon, description, properties (a JSON
object) or properties.<name>. JSON is a list of folders, nested ({"name": …, "folders": […]}) or flat ({"path": …});
NDJSON a flat one in each line. What espalier folder export writes, this reads.`,
  async run({ words: [source = '', to = '/'], options, flags }) {
    const given = { ...options, source, to, format: toFormat(options.format) };
    const progress = createProgress(systemClock);
    const upload = new ImportUpload(progress);
    try {
      await withConnection({ flags }, (connection) => importInto(connection, given, { progress, upload }), {
        fetch: upload.fetch,
        retrySeconds,
        stopSeconds,
      });
    } finally {
      progress.end();
    }
  },
});

interface Given {
  readonly source: string;
  readonly to: string;
  readonly format: Format | undefined;
  readonly parents: boolean;
  readonly files: boolean;
  readonly all: boolean;
  readonly dryRun: boolean;
  readonly json: boolean;
}

async function importInto(
  { client, signal }: Connection,
  given: Given,
  { progress, upload }: { readonly progress: Progress; readonly upload: ImportUpload },
): Promise<void> {
  const begunAt = systemClock.now();
  const { parent, missing } = await destination(client, given);
  const source = await readSource(given.source, {
    format: given.format,
    withFiles: given.files,
    withHidden: given.all,
    onProgress: progress.show,
    signal,
  });
  const list = missing.length === 0 ? source.entries : below(missing.join('/'), source.entries);
  const expected = checkEntries(list);
  const into = pathOf([...namesOf(parent.path), ...missing]);
  if (Buffer.byteLength(JSON.stringify(list)) > maxBytes) throw tooLarge(list.length);
  let made = 0;
  if (given.dryRun) await checkTops(client, parent, list);
  else if (list.length > 0) {
    made = await upload.send(client, { parentId: parent.id, list }, signal).catch((error: unknown) => {
      throw explain(error);
    });
  }
  progress.end();
  const seconds = (systemClock.now() - begunAt) / 1000;
  if (given.json) {
    const folderCount = given.dryRun ? expected : made;
    await printJson({ folderCount, path: into, isDryRun: given.dryRun, seconds, skipped: source.skipped });
  } else await print(describeResult({ ...source, expected, made, into, seconds, isDryRun: given.dryRun }));
}

async function destination(
  client: Client,
  { to, parents }: Given,
): Promise<{ parent: FolderDetails; missing: readonly string[] }> {
  if (idIn(to) !== undefined) return { parent: await findFolder(client, to), missing: [] };
  const { nearest: parent, missing } = await findNearest(client, to);
  if (missing.length === 0 || parents) return { parent, missing };
  const { code, message } = noSuchFolder(to);
  throw new EspalierError(code, `${message} --parents makes it.`);
}

function below(way: string, entries: readonly Entry[]): Entry[] {
  return entries.map((entry) => ({ ...entry, path: `${way}/${entry.path.replace(/^\//, '')}` }));
}

/** Whether the names at the top are free, as far as that can be asked for in one query. */
async function checkTops(client: Client, parent: FolderDetails, list: readonly Entry[]): Promise<void> {
  const tops = [...new Set(list.map(({ path }) => namesOf(path)[0]!))].slice(0, 100);
  if (tops.length === 0) return;
  const paths = Object.fromEntries(tops.map((name, place) => [`p${place}`, childPath(parent.path, name)]));
  const declared = Object.keys(paths).map((name) => `$${name}: String`);
  const asked = Object.keys(paths).map((name) => `${name}: folder(path: $${name}) { path }`);
  type Answer = Record<string, { path: string } | null>;
  const found = await client.query<Answer, object>(
    `query(${declared.join(', ')}) { ${asked.join(' ')} }`,
    paths,
  );
  const taken = Object.values(found).find((folder) => folder !== null);
  if (taken)
    throw new EspalierError('CONFLICT', `${taken.path} is there already: the import would be refused.`);
}

function explain(error: unknown): unknown {
  if (!(error instanceof EspalierError)) return error;
  const { code, message, status } = error;
  const [first = ''] = message.split(/(?<=\.) /);
  const explanation = {
    CONFLICT: `${first} Nothing was imported. To add to a folder that is there, import into it.`,
    TOO_EXPENSIVE: `${first} Nothing was imported. Import in several parts, such as one directory after the other.`,
    UNREACHABLE: `${message} It imports all of it or nothing: look whether it is there before you repeat it.`,
  }[code as string];
  return explanation === undefined ? error : new EspalierError(code, explanation, { status, cause: error });
}

function tooLarge(entries: number): StartError {
  return new StartError(
    `${count(entries)} folders are more than one import takes. Import them in several parts, such as one directory after the other. Nothing was imported.`,
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
  const skipped = done.skipped.length > 0 ? ` Left out: ${done.skipped.join(', ')}.` : '';
  if (done.entries.length === 0) return `There is nothing to import.${skipped}`;
  const into = `into ${escapeControls(done.into)}`;
  if (done.isDryRun) return `Would import ${countFolders(done.expected)} ${into}.${skipped}`;
  const seconds = done.seconds < 10 ? done.seconds.toFixed(1) : String(Math.round(done.seconds));
  return `Imported ${countFolders(done.made)} ${into} in ${seconds} s.${skipped}`;
}

function toFormat(given: string | undefined): Format | undefined {
  const format = formats.find((each) => each === given);
  if (given !== undefined && !format) throw new UsageError(`--format takes ${formats.join(', ')}.`);
  return format;
}
