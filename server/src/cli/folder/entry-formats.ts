/** Folders in files: as CSV, as JSON, nested or flat, and as a line of JSON each; there and back. */

import { formatJson } from '../output.ts';
import { escapeControls } from '../escape-text.ts';
import { csvLine, parseCsv } from '../csv.ts';
import type { Entry } from './import-call.ts';

/** Says where in the source something is wrong. */
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
type Given = Readonly<Record<string, unknown>>;

/** Parses one folder or a list, nested (`name` with `folders`) or flat (`path`). */
export function entriesOfJson(text: string): Entry[] {
  const value = parsed(text, 'It');
  const entries: Entry[] = [];
  const waiting = (Array.isArray(value) ? value : [value])
    .map((given: unknown, place) => ({ given, below: '', where: `Entry ${place + 1}` }))
    .toReversed();
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const { below, where } = next;
    const given = objectAt(next.given, where);
    const isFlat = 'path' in given && !('folders' in given);
    const path = below + textAt(given, isFlat ? 'path' : 'name', where);
    entries.push(toEntry(given, path, where, isFlat ? ['path', 'name'] : ['name', 'path', 'folders']));
    const inside = isFlat ? [] : (given['folders'] ?? []);
    if (!Array.isArray(inside)) throw new EntryError(`${where}: \`folders\` is not a list.`);
    for (const folder of inside.toReversed() as unknown[]) {
      waiting.push({ given: folder, below: `${path}/`, where: `In ${escapeControls(JSON.stringify(path))}` });
    }
  }
  return entries;
}

/** A flat one in each line. */
export function entriesOfNdjson(text: string): Entry[] {
  const lines = text.replace(/^\ufeff/, '').split('\n');
  return lines.flatMap((line, place) => {
    if (line.trim() === '') return [];
    const where = `Line ${place + 1}`;
    const given = objectAt(parsed(line, where), where);
    return [toEntry(given, textAt(given, 'path', where), where, ['path', 'name'])];
  });
}

/** With the names of the columns in the first row: path, the texts, `properties` as JSON, or `properties.<name>`. */
export function entriesOfCsv(text: string): Entry[] {
  const rows = parseCsv(text);
  const header = rows.next();
  if (header.done) return [];
  const columns = header.value.cells.map((name) => name.trim());
  checkColumns(columns);
  const entries: Entry[] = [];
  for (const { line, cells } of rows) {
    const where = `Line ${line}`;
    if (cells.length > columns.length)
      throw new EntryError(`${where}: it has more cells than the first line.`);
    entries.push(
      toEntry(givenOf(columns, cells, where), cells[columns.indexOf('path')] ?? '', where, ['path']),
    );
  }
  return entries;
}

const propertyColumn = /^properties\.(.+)$/;

function checkColumns(columns: readonly string[]): void {
  if (!columns.includes('path')) {
    throw new EntryError('The first line names the columns, and one of them must be path.');
  }
  const known = new Set<string>(['path', ...texts, 'properties']);
  const unknown = columns.find(
    (name) => !known.has(name) && !propertyColumn.test(name) && !ignored.has(name),
  );
  if (unknown !== undefined) {
    throw new EntryError(
      `There is no column ${escapeControls(JSON.stringify(unknown))}: it takes ${[...known].join(', ')} and properties.<name>.`,
    );
  }
  const twice = columns.find((name, place) => columns.indexOf(name) !== place);
  if (twice !== undefined) throw new EntryError(`The column ${escapeControls(twice)} is there twice.`);
}

/** An empty cell is nothing. */
function givenOf(columns: readonly string[], cells: readonly string[], where: string): Given {
  const given: Record<string, unknown> = {};
  const properties: [string, unknown][] = [];
  for (const [place, column] of columns.entries()) {
    const cell = cells[place] ?? '';
    const [, property] = propertyColumn.exec(column) ?? [];
    if (cell === '' || ignored.has(column)) continue;
    if (property !== undefined) properties.push([property, jsonOrText(cell)]);
    else if (column === 'properties') {
      properties.unshift(...Object.entries(objectAt(parsed(cell, `${where}, properties`), where)));
    } else given[column] = cell;
  }
  return properties.length > 0 ? { ...given, properties: Object.fromEntries(properties) } : given;
}

function jsonOrText(cell: string): unknown {
  try {
    return JSON.parse(cell) as unknown;
  } catch {
    return cell;
  }
}

function toEntry(given: Given, path: string, where: string, own: readonly string[]): Entry {
  const entry: Record<string, unknown> = { path };
  for (const name of Object.keys(given)) {
    const value = given[name];
    if (own.includes(name) || ignored.has(name) || value === null || value === undefined) continue;
    const isText = (texts as readonly string[]).includes(name);
    if (!isText && name !== 'properties') {
      throw new EntryError(
        `${where}: there is no field ${escapeControls(JSON.stringify(name))}; a folder has ${[own[0], ...texts, 'properties'].join(', ')}.`,
      );
    }
    if (isText && typeof value !== 'string') throw new EntryError(`${where}: \`${name}\` is not a text.`);
    entry[name] = isText ? value : objectAt(value, `${where}, properties`);
  }
  return entry as unknown as Entry;
}

function objectAt(value: unknown, where: string): Given {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Given;
  throw new EntryError(`${where} is not a JSON object.`);
}

function textAt(given: Given, name: string, where: string): string {
  const value = given[name];
  if (typeof value === 'string') return value;
  throw new EntryError(`${where} has no \`${name}\`.`);
}

function parsed(text: string, where: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, '')) as unknown;
  } catch (cause) {
    throw new EntryError(`${where} is not JSON: ${escapeControls((cause as Error).message)}.`, { cause });
  }
}

/** The pieces of a file, which the functions above read. */
export const writers = {
  *json(entries: readonly Entry[]): Generator<string> {
    for (const [place, entry] of entries.entries())
      yield `${place === 0 ? '[' : ','}\n${formatJson(compact(entry))}`;
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

/** Only what there is. */
function compact(entry: Entry): object {
  return Object.fromEntries(
    Object.entries(entry).filter(([, value]) => value !== null && value !== undefined),
  );
}
