/**
 * The paths that journal entries store, with the names at the time of the change. They contain the names of all ancestors,
 * including those that the viewer does not see. So only administrators may read them.
 */

import { whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { readInBatches, type Reader } from '../database/database.ts';
import { list, sql } from '../database/statement.ts';

type FolderNames = ReadonlyMap<string, { readonly name: string }>;

/** In UTF-16 code units. Without a limit, deep folders with long names would fill the journal. */
const maxLength = 4_096;

const findNames = sql<{ ids: readonly string[] }, { id: string; name: string }>`
  select id, name from folders where id in (select value from ${list('ids')})`;

export function readNames(reader: Reader, ids: readonly string[]): PromiseOrValue<FolderNames> {
  const read = (some: readonly string[]) => reader.all(findNames, { ids: some }, some.length);
  return whenDone(readInBatches(ids, read), (rows) => new Map(rows.map((row) => [row.id, row])));
}

/**
 * The path of the last folder of `pathIds`. If `name` is defined, it replaces that folder's stored name. `rows` contains folders
 * that have already been read; the names of all others are read here.
 */
export function readJournalPath(
  { reader, rows }: { readonly reader: Reader; readonly rows: FolderNames },
  pathIds: readonly string[],
  name?: string,
): PromiseOrValue<string> {
  const ids = name === undefined ? pathIds.slice(1) : pathIds.slice(1, -1);
  const missingIds = ids.filter((id) => !rows.has(id));
  return whenDone(missingIds.length === 0 ? rows : readNames(reader, missingIds), (read) => {
    const steps = ids.map((id) => (rows.get(id) ?? read.get(id))!.name);
    // The path of the root is "/", whatever its name is.
    if (name !== undefined && pathIds.length > 1) steps.push(name);
    return shorten(`/${steps.join('/')}`);
  });
}

/** The path of a folder inside the folder with this path. */
export function appendToJournalPath(path: string, name: string): string {
  return shorten(`${path === '/' ? '' : path}/${name}`);
}

/** Keeps the end, which contains the folder's own name. */
function shorten(path: string): string {
  return path.length > maxLength ? `…${path.slice(1 - maxLength).toWellFormed()}` : path;
}
