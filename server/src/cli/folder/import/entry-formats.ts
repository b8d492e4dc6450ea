/** Reads and writes folders as CSV, as nested or flat JSON, and as NDJSON. */

import { formatJson } from '../../terminal/output.ts';
import { escapeControls } from '../../terminal/escape-text.ts';
import { csvLine, parseCsv } from '../../terminal/csv.ts';
import type { Entry } from './import-call.ts';

/** An error in the source, with its position. */
export class EntryError extends Error {
  override readonly name = 'EntryError';
}

const texts = ['title', 'icon', 'description'] as const;
/** Further fields in the JSON output of commands. New folders get their own values. */
const ignored: ReadonlySet<string> = new Set([
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

/** Parses one folder or a list, nested (`name` with `folders`) or flat (`path`). */
export function entriesOfJson(text: string): Entry[] {
  const value = parsed(text, 'The content');
  const entries: Entry[] = [];
  const waiting = (Array.isArray(value) ? value : [value])
    .map((input: unknown, index) => ({ input, below: '', where: `Entry ${index + 1}` }))
    .toReversed();
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { below, where } = next;
    const input = objectAt(next.input, where);
    const isFlat = 'path' in input && !('folders' in input);
    const path = below + textAt(input, isFlat ? 'path' : 'name', where);
    entries.push(toEntry(input, path, where, isFlat ? ['path', 'name'] : ['name', 'path', 'folders']));
    const inside = isFlat ? [] : (input['folders'] ?? []);
    if (!Array.isArray(inside)) throw new EntryError(`${where}: \`folders\` is not a list.`);
    for (const folder of inside.toReversed() as unknown[]) {
      waiting.push({ input: folder, below: `${path}/`, where: `In ${escapeControls(JSON.stringify(path))}` });
    }
  }
  return entries;
}

/** Parses one flat folder per line. */
export function entriesOfNdjson(text: string): Entry[] {
  const lines = text.replace(/^\ufeff/, '').split('\n');
  return lines.flatMap((line, index) => {
    if (line.trim() === '') return [];
    const where = `Line ${index + 1}`;
    const input = objectAt(parsed(line, where), where);
    return [toEntry(input, textAt(input, 'path', where), where, ['path', 'name'])];
  });
}

/** The first row names the columns: path, the texts, `properties` as JSON, or `properties.<name>`. */
export function entriesOfCsv(text: string): Entry[] {
  const rows = parseCsv(text);
  const header = rows.next();
  if (header.done) return [];
  const columns = header.value.cells.map((name) => name.trim());
  checkColumns(columns);
  const entries: Entry[] = [];
  for (const { line, cells } of rows) {
    const where = `Line ${line}`;
    if (cells.length > columns.length) throw new EntryError(`${where} has more cells than the first line.`);
    entries.push(
      toEntry(inputOf(columns, cells, where), cells[columns.indexOf('path')] ?? '', where, ['path']),
    );
  }
  return entries;
}

const propertyColumn = /^properties\.(.+)$/;

function checkColumns(columns: readonly string[]): void {
  if (!columns.includes('path')) {
    throw new EntryError('The first line must name the columns, including the column path.');
  }
  const permitted = new Set<string>(['path', ...texts, 'properties']);
  const unknown = columns.find(
    (name) => !permitted.has(name) && !propertyColumn.test(name) && !ignored.has(name),
  );
  if (unknown !== undefined) {
    throw new EntryError(
      `There is no column ${escapeControls(JSON.stringify(unknown))}. Use ${[...permitted].join(', ')} or properties.<name>.`,
    );
  }
  const twice = columns.find((name, index) => columns.indexOf(name) !== index);
  if (twice !== undefined) throw new EntryError(`The column ${escapeControls(twice)} appears twice.`);
}

/** An empty cell means no value. */
function inputOf(columns: readonly string[], cells: readonly string[], where: string): InputObject {
  const input: Record<string, unknown> = {};
  const properties: [string, unknown][] = [];
  for (const [index, column] of columns.entries()) {
    const cell = cells[index] ?? '';
    const [, property] = propertyColumn.exec(column) ?? [];
    if (cell === '' || ignored.has(column)) continue;
    if (property !== undefined) properties.push([property, jsonOrText(cell)]);
    else if (column === 'properties') {
      properties.unshift(...Object.entries(objectAt(parsed(cell, `${where}, properties`), where)));
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

function toEntry(input: InputObject, path: string, where: string, own: readonly string[]): Entry {
  const entry: Record<string, unknown> = { path };
  for (const name of Object.keys(input)) {
    const value = input[name];
    if (own.includes(name) || ignored.has(name) || value === null || value === undefined) continue;
    const isText = (texts as readonly string[]).includes(name);
    if (!isText && name !== 'properties') {
      throw new EntryError(
        `${where}: there is no field ${escapeControls(JSON.stringify(name))}. The fields of a folder are ${[own[0], ...texts, 'properties'].join(', ')}.`,
      );
    }
    if (isText && typeof value !== 'string') throw new EntryError(`${where}: \`${name}\` is not a string.`);
    entry[name] = isText ? value : objectAt(value, `${where}, properties`);
  }
  return entry as unknown as Entry;
}

function objectAt(value: unknown, where: string): InputObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as InputObject;
  throw new EntryError(`${where} is not a JSON object.`);
}

function textAt(input: InputObject, name: string, where: string): string {
  const value = input[name];
  if (typeof value === 'string') return value;
  throw new EntryError(`${where} has no \`${name}\`.`);
}

function parsed(text: string, where: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, '')) as unknown;
  } catch (cause) {
    throw new EntryError(`${where} is not valid JSON: ${escapeControls((cause as Error).message)}.`, {
      cause,
    });
  }
}

/** Yield the parts of a file that the functions above read. */
export const writers = {
  *json(entries: readonly Entry[]): Generator<string> {
    for (const [index, entry] of entries.entries())
      yield `${index === 0 ? '[' : ','}\n${formatJson(compact(entry))}`;
    yield entries.length === 0 ? '[]\n' : '\n]\n';
  },
  *ndjson(entries: readonly Entry[]): Generator<string> {
    for (const entry of entries) yield `${formatJson(compact(entry))}\n`;
  },
  *csv(entries: readonly Entry[]): Generator<string> {
    yield csvLine(['path', ...texts, 'properties']);
    for (const { path, properties, ...entry } of entries) {
      yield csvLine([
        path,
        ...texts.map((name) => entry[name] ?? ''),
        properties ? JSON.stringify(properties) : '',
      ]);
    }
  },
};

/** Removes fields without a value. */
function compact(entry: Entry): object {
  return Object.fromEntries(
    Object.entries(entry).filter(([, value]) => value !== null && value !== undefined),
  );
}
