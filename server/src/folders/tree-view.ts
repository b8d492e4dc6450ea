/**
 * Reads folders for a viewer: only folders that the viewer may see, each with the viewer's level. Nothing else in the server reads
 * a folder for a viewer.
 */

import { accessLevels, type Access, type AccessLevel } from '../access/access.ts';
import { Ancestry } from '../access/ancestry.ts';
import { together, whenDone, type PromiseOrValue } from '../concurrency/promise-or-value.ts';
import { readInBatches, type ConsistentReader } from '../database/database.ts';
import { isRowId, list, sql, type ListOfEach, type Statement } from '../database/statement.ts';
import type { JournalHead } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import { withoutNul, type FolderTexts } from './folder-texts.ts';

export interface Folder {
  readonly id: string;
  readonly parentId: string | null;
  readonly name: string;
  readonly title: string | null;
  readonly childCount: number;
  readonly version: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** NONE on a passage. */
  readonly accessLevel: AccessLevel;
  /** Undefined if the texts were not read with the folder. */
  readonly texts?: LongTexts | undefined;
}

export type FolderRow = Omit<Folder, 'accessLevel'>;
export type LongTexts = Omit<FolderTexts, 'title'>;

/** Which columns of each folder are read. Each value includes the columns of those before it. Only `all` has the long texts. */
export type FolderColumns = 'name' | 'main' | 'counted' | 'withoutTexts' | 'all';

/**
 * The tree as one viewer may see it at one moment. The rights come from the snapshot or transaction from which the folders are read.
 * The view must not be used after this snapshot or transaction has ended.
 */
export interface TreeView {
  readonly reader: ConsistentReader;
  readonly access: Access;
  readonly ancestry: Ancestry;
  /** Folders that were read with the head of the journal: the first folder, and possibly its ancestors. */
  readonly rows: ReadonlyMap<string, FolderRow>;
  /** Children of the first folder that were read with it. */
  readonly firstPage?: FirstPage | undefined;
}

/** The statement that reads a page of the children of one folder. */
export interface PageRead {
  readonly statement: Statement<Readonly<Record<string, unknown>>, ListOfEach>;
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface FirstPage extends PageRead {
  readonly rows: readonly ListOfEach[];
}

const { NONE, READ } = accessLevels;
const maxPathDepth = 1_000;
/** Texts may be long. */
const textsPerStatement = 500;

export const folderColumns = sql`folders.id, folders.parent_id as "parentId", folders.name, folders.title,
  folders.child_count as "childCount", folders.version, folders.created_at as "createdAt",
  folders.updated_at as "updatedAt"`;

export const findById = sql<
  { id: string },
  FolderRow
>`select ${folderColumns} from folders where id = ${'id'}`;
export const findByIds = sql<{ ids: readonly string[] }, FolderRow>`
  select ${folderColumns} from folders where id in (select value from ${list('ids')})`;

const findByIdsWithTexts = sql<{ ids: readonly string[] }, FolderRow & LongTexts>`
  select ${folderColumns}, folders.icon, folders.description, folders.properties
  from folders where id in (select value from ${list('ids')})`;

const findTexts = sql<{ ids: readonly string[] }, LongTexts & { id: string }>`
  select id, icon, description, properties from folders where id in (select value from ${list('ids')})`;

// With a cross join, SQLite keeps the order of the tables: one lookup by name for each step.
const findByPath = sql<{ rootId: string; names: readonly string[] }, FolderRow>`
  with recursive walk (id, depth) as (
    select id, 0 from folders where id = ${'rootId'}
    union all
    select folders.id, walk.depth + 1
    from walk cross join ${list('names', 'texts')} cross join folders
    where each.position = walk.depth and folders.parent_id = walk.id and folders.name = each.value
  )
  select ${folderColumns} from walk cross join folders where folders.id = walk.id and walk.depth > 0 order by walk.depth`;

export function viewTree(reader: ConsistentReader, access: Access, first?: FirstRead): TreeView {
  const ancestry = new Ancestry(reader, access.rootId);
  if (!first) return { reader, access, ancestry, rows: noRows };
  for (const [id, { parentId }] of first.parents) ancestry.setParent(id, parentId);
  return { reader, access, ancestry, rows: first.rows, firstPage: first.page };
}

export const noRows: TreeView['rows'] = new Map();

/** The head of the journal and a folder with its ancestors, from one snapshot. */
export interface FirstRead {
  readonly head: JournalHead;
  /** The folder, if it exists, and its ancestors, if they were read. */
  readonly rows: ReadonlyMap<string, FolderRow>;
  /** The folder and its ancestors, by id. They determine whether the folder is in the tree. */
  readonly parents: ReadonlyMap<string, WithParent>;
  readonly page?: FirstPage | undefined;
}

export type WithParent = Pick<Folder, 'parentId'>;

function readRow({ reader, rows }: TreeView, id: string): PromiseOrValue<FolderRow | undefined> {
  return rows.get(id) ?? reader.get(findById, { id });
}

/** The viewer sees only the name of a passage. */
export function withLevel(row: FolderRow, accessLevel: AccessLevel): Folder {
  if (accessLevel >= READ) return { ...row, accessLevel };
  // The id reveals the time of creation anyway.
  return { ...row, title: null, version: 0, updatedAt: row.createdAt, accessLevel, texts: noTexts };
}

export function readRoot(view: TreeView): PromiseOrValue<Folder> {
  const { access } = view;
  const { rootId } = access;
  return whenDone(readRow(view, rootId), (root) => withLevel(root!, access.levelOf(rootId, NONE)));
}

export function readFolder(view: TreeView, id: string): PromiseOrValue<Folder | undefined> {
  if (!isRowId(id)) return undefined;
  const found = together(
    () => view.ancestry.load([id]),
    () => readRow(view, id),
  );
  return whenDone(found, ([, row]) => row && visibleFolder(view, row));
}

/** The ancestors must be loaded. Undefined if the viewer does not see the folder. */
function visibleFolder(view: TreeView, row: FolderRow): Folder | undefined {
  const level = visibleLevel(view, row.id);
  return level === undefined ? undefined : withLevel(row, level);
}

/** Refuses with NOT_FOUND a folder that the viewer does not see. */
export async function requireFolder(view: TreeView, id: string): Promise<Folder> {
  const folder = await readFolder(view, id);
  if (!folder) throw noSuchFolder(id);
  return folder;
}

export function noSuchFolder(id: string): Refusal {
  // Repeats only a valid id, because the input may be a text of any length.
  const name = isRowId(id) ? `the id ${id}` : 'this id';
  return new Refusal('NOT_FOUND', `There is no folder with ${name}.`);
}

/** The map has no entry for a folder that the viewer may not see. */
export function readFolders(
  view: TreeView,
  ids: readonly string[],
  columns: FolderColumns = 'withoutTexts',
): PromiseOrValue<ReadonlyMap<string, Folder>> {
  return whenDone(view.ancestry.load(ids), () => {
    const found = new Map<string, Folder>();
    const levels = new Map<string, AccessLevel>();
    for (const id of ids) {
      const level = visibleLevel(view, id);
      if (level === undefined) continue;
      const row = view.rows.get(id);
      if (row && (columns === 'withoutTexts' || row.texts)) found.set(id, withLevel(row, level));
      else levels.set(id, level);
    }
    if (levels.size === 0) return found;
    const read = (some: readonly string[]): PromiseOrValue<readonly FolderRow[]> =>
      columns === 'all'
        ? whenDone(view.reader.all(findByIdsWithTexts, { ids: some }, some.length), (rows) =>
            rows.map(({ icon, description, properties, ...row }) => ({
              ...row,
              texts: { icon, description, properties },
            })),
          )
        : view.reader.all(findByIds, { ids: some }, some.length);
    const size = columns === 'all' ? textsPerStatement : undefined;
    return whenDone(readInBatches([...levels.keys()], read, size), (rows) => {
      for (const row of rows) found.set(row.id, withLevel(row, levels.get(row.id)!));
      return found;
    });
  });
}

/** `names` start below the root. */
export function readFolderByPath(
  view: TreeView,
  names: readonly string[],
): PromiseOrValue<Folder | undefined> {
  if (names.length === 0) return readRoot(view);
  if (names.length > maxPathDepth) {
    throw new Refusal('BAD_INPUT', `\`path\` must have at most ${maxPathDepth} names.`);
  }
  const { rootId } = view.access;
  const parameters = { rootId, names: names.map((name) => withoutNul(name).normalize('NFC')) };
  return whenDone(view.reader.all(findByPath, parameters), (rows) => {
    if (rows.length < names.length) return undefined;
    for (const { id, parentId } of rows) view.ancestry.setParent(id, parentId);
    return visibleFolder(view, rows.at(-1)!);
  });
}

export const noTexts: LongTexts = { icon: null, description: null, properties: null };

/** Passages have no texts. The map has no entry for a folder without a row. */
export function readTexts(
  { reader }: TreeView,
  folders: readonly Folder[],
): PromiseOrValue<ReadonlyMap<string, LongTexts>> {
  const readable = folders.filter(({ accessLevel }) => accessLevel >= READ);
  const read = (ids: readonly string[]) => reader.all(findTexts, { ids }, ids.length);
  const ids = readable.map(({ id }) => id);
  return whenDone(readInBatches(ids, read, textsPerStatement), (rows) => {
    const passages = folders.filter(({ accessLevel }) => accessLevel < READ);
    const texts = new Map(passages.map(({ id }) => [id, noTexts]));
    for (const { id, ...row } of rows) texts.set(id, row);
    return texts;
  });
}

/** The viewer's level on a folder whose ancestors are loaded; undefined if the viewer does not see it. */
export function visibleLevel({ access, ancestry }: TreeView, id: string): AccessLevel | undefined {
  const pathIds = ancestry.pathTo(id);
  if (!pathIds) return undefined;
  const level = access.levelAt(pathIds);
  return access.isVisible(id, level) ? level : undefined;
}

/** The ids of a folder's ancestors, the root first. They must be loaded. */
export function ancestorIds({ ancestry }: TreeView, id: string): readonly string[] {
  return ancestry.pathTo(id)?.slice(0, -1) ?? [];
}
