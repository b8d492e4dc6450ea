/** Reads and writes folders as CSV, as nested or flat JSON, and as NDJSON. */

import { escapeControls, formatJson } from '@espalier/contract';
import type { PathToImport } from '../folder.ts';
import { checkFolders, type CheckedFolders, type FileRow } from './check-folders.ts';
import { formatCsvLine, parseCsv } from './csv.ts';
import { FileError } from './file-error.ts';

export const fileFormats = ['csv', 'json', 'ndjson'] as const;
export type FileFormat = (typeof fileFormats)[number];

const extensions: ReadonlyMap<string, FileFormat> = new Map([
  ['csv', 'csv'],
  ['json', 'json'],
  ['ndjson', 'ndjson'],
  ['jsonl', 'ndjson'],
]);

/** Returns the format for the extension of the file name, or undefined if the extension is unknown. */
export function fileFormatOf(fileName: string): FileFormat | undefined {
  const [, extension] = /\.([^./\\]+)$/.exec(fileName) ?? [];
  return extensions.get(extension?.toLowerCase() ?? '');
}

/** Parses and checks all folders of a file. Throws a `FileError` if the file as a whole cannot be read. */
export function parseFolders(format: FileFormat, text: string): CheckedFolders {
  return checkFolders(parseRows(format, text));
}

/** Parses the rows of a file one by one, without the checks of `parseFolders`. */
export function parseRows(format: FileFormat, text: string): Iterable<FileRow> {
  return parse[format](text);
}

/** Yields the text of a file in parts. `parseFolders` can read the file. */
export function formatFolders(format: FileFormat, folders: readonly PathToImport[]): Generator<string> {
  return writers[format](folders);
}

const textFields = ['title', 'icon', 'description'] as const;
/** Fields in the JSON output of CLI commands that are not imported, because new folders get their own values. */
const ignoredFields: ReadonlySet<string> = new Set([
  'id',
  'parentId',
  'depth',
  'accessLevel',
  'version',
  'createdAt',
  'updatedAt',
]);

/** A folder in a file, not validated yet. */
type InputObject = Readonly<Record<string, unknown>>;

const parse: Readonly<Record<FileFormat, (text: string) => Iterable<FileRow>>> = {
  csv: rowsOfCsv,
  json: rowsOfJson,
  ndjson: rowsOfNdjson,
};

/** Reads one folder or a list, nested (`name` with `folders`) or flat (`path`). */
function* rowsOfJson(text: string): Generator<FileRow> {
  const value = parseJson(text, 'The content');
  const pending = (Array.isArray(value) ? value : [value])
    .map((input: unknown, index) => ({ input, parentPath: '', where: `Entry ${index + 1}` }))
    .toReversed();
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { parentPath, where } = next;
    const input = objectOf(next.input);
    const isFlat = input !== undefined && 'path' in input && !('folders' in input);
    const row = rowAt(where, () => {
      const object = requireObject(input);
      if (isFlat) return toFolder(object, parentPath + textOf(object, 'path'), ['path', 'name']);
      const name = textOf(object, 'name');
      if (name.includes('/')) throw new FileError('The `name` of a folder must not contain a slash.');
      if (!Array.isArray(object['folders'] ?? [])) throw new FileError('`folders` must be a list.');
      return toFolder(object, parentPath + name, ['name', 'path', 'folders']);
    });
    yield row;
    if (isFlat || 'problem' in row) continue;
    const { path } = row.folder;
    for (const folder of ((input!['folders'] ?? []) as unknown[]).toReversed()) {
      pending.push({ input: folder, parentPath: `${path}/`, where: `In ${quote(path)}` });
    }
  }
}

/** Reads one flat folder per line. */
function* rowsOfNdjson(text: string): Generator<FileRow> {
  for (const [index, line] of text
    .replace(/^\ufeff/, '')
    .split('\n')
    .entries()) {
    if (line.trim() === '') continue;
    yield rowAt(`Line ${index + 1}`, () => {
      const input = requireObject(objectOf(parseJson(line, 'The line')));
      return toFolder(input, textOf(input, 'path'), ['path', 'name']);
    });
  }
}

/** The first row names the columns: path, the texts, `properties` as JSON, or `properties.<name>`. */
function* rowsOfCsv(text: string): Generator<FileRow> {
  const rows = parseCsv(text);
  const header = rows.next();
  if (header.done) return;
  const columns = header.value.cells.map((name) => name.trim());
  checkColumns(columns);
  for (const { line, cells } of rows) {
    yield rowAt(`Line ${line}`, () => {
      if (cells.length > columns.length) throw new FileError('The line has more cells than the first line.');
      return toFolder(inputOf(columns, cells), cells[columns.indexOf('path')] ?? '', ['path']);
    });
  }
}

/** Catches the problem of one row, so that the other rows are still read. */
function rowAt(where: string, read: () => PathToImport): FileRow {
  try {
    return { where, folder: read() };
  } catch (error) {
    if (error instanceof FileError) return { where, problem: error.message };
    throw error;
  }
}

const propertyColumn = /^properties\.(.+)$/;

function checkColumns(columns: readonly string[]): void {
  if (!columns.includes('path')) {
    throw new FileError(
      'The first line must name the columns, separated by commas, including the column path.',
    );
  }
  const permitted = new Set<string>(['path', ...textFields, 'properties']);
  const unknown = columns.find(
    (name) => !permitted.has(name) && !propertyColumn.test(name) && !ignoredFields.has(name),
  );
  if (unknown !== undefined) {
    throw new FileError(
      `There is no column ${quote(unknown)}. Use ${[...permitted].join(', ')} or properties.<name>.`,
    );
  }
  const duplicate = columns.find((name, index) => columns.indexOf(name) !== index);
  if (duplicate !== undefined) throw new FileError(`The column ${escapeControls(duplicate)} appears twice.`);
}

/** An empty cell means no value. */
function inputOf(columns: readonly string[], cells: readonly string[]): InputObject {
  const input: Record<string, unknown> = {};
  const properties: [string, unknown][] = [];
  for (const [index, column] of columns.entries()) {
    const cell = cells[index] ?? '';
    const [, property] = propertyColumn.exec(column) ?? [];
    if (cell === '' || ignoredFields.has(column)) continue;
    if (property !== undefined) properties.push([property, jsonOrText(cell)]);
    else if (column === 'properties') {
      properties.unshift(...Object.entries(toProperties(parseJson(cell, '`properties`'))));
    } else input[column] = cell;
  }
  return properties.length > 0 ? { ...input, properties: Object.fromEntries(properties) } : input;
}

function jsonOrText(cell: string): unknown {
  try {
    return JSON.parse(cell) as unknown;
  } catch {
    return cell;
  }
}

function toFolder(input: InputObject, path: string, pathFields: readonly string[]): PathToImport {
  const folder: Record<string, unknown> = { path };
  for (const name of Object.keys(input)) {
    const value = input[name];
    if (pathFields.includes(name) || ignoredFields.has(name) || value === null || value === undefined)
      continue;
    const isText = (textFields as readonly string[]).includes(name);
    if (!isText && name !== 'properties') {
      throw new FileError(
        `There is no field ${quote(name)}. The fields of a folder are ${[pathFields[0], ...textFields, 'properties'].join(', ')}.`,
      );
    }
    if (isText && typeof value !== 'string') throw new FileError(`\`${name}\` must be a string.`);
    folder[name] = isText ? value : toProperties(value);
  }
  return folder as unknown as PathToImport;
}

function objectOf(value: unknown): InputObject | undefined {
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as InputObject) : undefined;
}

function requireObject(input: InputObject | undefined): InputObject {
  if (!input) throw new FileError('A folder must be a JSON object.');
  return input;
}

function toProperties(value: unknown): InputObject {
  const properties = objectOf(value);
  if (!properties) throw new FileError('`properties` must be a JSON object.');
  return properties;
}

function textOf(input: InputObject, name: string): string {
  const value = input[name];
  if (typeof value === 'string') return value;
  throw new FileError(`The folder has no \`${name}\`.`);
}

function parseJson(text: string, what: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, '')) as unknown;
  } catch (cause) {
    const reason = escapeControls((cause as Error).message);
    throw new FileError(`${what} is not valid JSON: ${reason}.`, { cause });
  }
}

function quote(text: string): string {
  return escapeControls(JSON.stringify(text));
}

const writers: Readonly<Record<FileFormat, (folders: readonly PathToImport[]) => Generator<string>>> = {
  *json(folders) {
    for (const [index, folder] of folders.entries()) {
      yield `${index === 0 ? '[' : ','}\n${formatJson(withoutEmpty(folder))}`;
    }
    yield folders.length === 0 ? '[]\n' : '\n]\n';
  },
  *ndjson(folders) {
    for (const folder of folders) yield `${formatJson(withoutEmpty(folder))}\n`;
  },
  *csv(folders) {
    yield formatCsvLine(['path', ...textFields, 'properties']);
    for (const { path, properties, ...folder } of folders) {
      yield formatCsvLine([
        path,
        ...textFields.map((name) => folder[name] ?? ''),
        properties ? JSON.stringify(properties) : '',
      ]);
    }
  },
};

/** Removes fields without a value. */
function withoutEmpty(folder: PathToImport): object {
  return Object.fromEntries(
    Object.entries(folder).filter(([, value]) => value !== null && value !== undefined),
  );
}
