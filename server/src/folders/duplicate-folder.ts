/**
 * Copies a folder with all folders inside it that the viewer sees: either all of them or none. The copy shows the source as it was
 * at one moment. A large copy is written like a large import. Grants are not copied: the copy inherits the access of its new
 * parent.
 */

import { maxFolderNameLength } from '@espalier/contract';
import { accessLevels, type Access } from '../access/access.ts';
import type { Snapshot, Transaction } from '../database/database.ts';
import { list, sql } from '../database/statement.ts';
import type { Caller, Changed, ChangeRunner, ResultCodec } from '../journal/change-runner.ts';
import { record, type ChangeOrigin } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import {
  addChildren,
  checkDepth,
  checkNameIsFree,
  checkVersion,
  nameTaken,
  requireLevel,
  requireWritable,
} from './change-rules.ts';
import type { Descendant } from './children/descendants.ts';
import { readSubtree } from './export-folders.ts';
import { foldForStorage, sortKey, toFolderName } from './folder-texts.ts';
import type { ChangedFolder } from './folder-writes.ts';
import { maxRowsPerTransaction, writeStaged } from './import/import-writes.ts';
import { readJournalPath } from './journal-paths.ts';
import { insertRows, newFolderIds, newRow, type NewRow } from './new-folder-rows.ts';
import {
  readTexts,
  requireFolder,
  viewTree,
  type Folder,
  type LongTexts,
  type TreeView,
} from './tree-view.ts';

export interface FolderDuplication {
  readonly id: string;
  /** By default, the parent of the folder. */
  readonly parentId?: string | null | undefined;
  /** By default, a free name derived from the folder's name. */
  readonly name?: string | null | undefined;
  /** The version of the folder. */
  readonly expectedVersion?: number | null | undefined;
}

export interface DuplicationOptions {
  /** Divides the reads from a snapshot into time slices. */
  readonly pace: (snapshot: Snapshot) => Snapshot;
  /** Called before `count` folders are copied in memory. A returned promise is awaited first. */
  readonly beforeRows: (count: number) => Promise<void> | undefined;
}

interface Limits {
  readonly maxFolders: number;
  readonly maxTextBytes: number;
}

type Options = DuplicationOptions & Limits;

export interface DuplicatedFolder extends ChangedFolder {
  /** Includes the folders inside. */
  readonly count: number;
}

const duplicateResult: ResultCodec<DuplicatedFolder, { id: string; count: number }> = {
  toStored: ({ id, count }) => ({ id, count }),
  fromStored: (stored) => stored,
};

/** A source as it was in one snapshot, with new ids. */
interface Copy {
  /** The first row is the copy of the source itself. It has no parent yet. */
  readonly rows: readonly NewRow[];
  readonly source: Folder;
  readonly sourcePath: string;
  readonly parentId: string;
  readonly now: number;
}

const { READ } = accessLevels;
const candidatesPerRead = 100;
const maxCandidates = 1_000;

const findTaken = sql<{ parentId: string; names: readonly string[] }, { name: string }>`
  select folders.name from ${list('names', 'texts')} cross join folders
  where folders.parent_id = ${'parentId'} and folders.name = each.value`;

const publishCopy = sql<Pick<NewRow, 'id' | 'parentId' | 'name' | 'sortKey' | 'foldedName'>>`
  update folders set parent_id = ${'parentId'}, name = ${'name'}, sort_key = ${'sortKey'}, folded_name = ${'foldedName'}
  where id = ${'id'}`;

export function duplicateFolder(
  changes: ChangeRunner<Access>,
  caller: Caller,
  input: FolderDuplication,
  options: Options,
): Promise<Changed<DuplicatedFolder>> {
  const name = typeof input.name === 'string' ? toFolderName(input.name) : undefined;
  return changes.runUnlessMade(caller, duplicateResult, async () => {
    const now = changes.clock.now();
    const copy = await changes.readLong(caller, (snapshot, access) =>
      readCopy(viewTree(options.pace(snapshot), access), input, {
        ...options,
        now,
        name,
        reportDamage: (finding) => changes.database.reportDamage(finding),
      }),
    );
    const insert = (write: (transaction: Transaction, top: NamedRow) => Promise<void>) =>
      changes.run(caller, {
        codec: duplicateResult,
        takesLong: true,
        work: async (transaction, access, by) => {
          const view = viewTree(transaction, access);
          const parent = await checkDestination(view, copy);
          const top = withName(copy.rows[0]!, await chooseName(view, copy.source, parent, name), parent.id);
          await write(transaction, top);
          return finishCopy(transaction, view, copy, top, { ...by, now });
        },
      });
    if (copy.rows.length <= maxRowsPerTransaction) {
      return insert((transaction, top) => insertRows(transaction, [top, ...copy.rows.slice(1)]));
    }
    return writeStaged(
      changes,
      copy,
      (unstage) =>
        insert(async (transaction, top) => {
          await transaction.run(publishCopy, top);
          await unstage(transaction);
        }),
      ({ id }) => id === copy.rows[0]!.id,
    );
  });
}

interface ReadOptions extends Options {
  readonly now: number;
  readonly name: string | undefined;
  readonly reportDamage: (finding: string) => Refusal;
}

/** Checks in advance everything that the change itself checks again. */
async function readCopy(view: TreeView, input: FolderDuplication, options: ReadOptions): Promise<Copy> {
  const { now, name } = options;
  const source = await requireFolder(view, input.id);
  requireLevel(source, READ);
  checkVersion(source, input.expectedVersion);
  const parentId = input.parentId ?? source.parentId;
  if (parentId === null)
    throw new Refusal('BAD_INPUT', 'The root has no parent. Set `parentId` to another folder.');
  const parent = await requireWritable(view, parentId);
  await chooseName(view, source, parent, name);
  const rows = await readRows(view, source, options);
  checkDepth(view, parent, 1 + rows[0]!.height);
  const sourcePath = await readJournalPath(view, view.ancestry.pathTo(source.id)!, source.name);
  return { rows, source, sourcePath, parentId, now };
}

async function readRows(
  view: TreeView,
  source: Folder,
  { now, maxFolders, maxTextBytes, reportDamage, beforeRows }: ReadOptions,
): Promise<readonly NewRow[]> {
  const newId = newFolderIds(now);
  let bytes = 0;
  const toRow = ({ name, title }: Folder, texts: LongTexts, parentId: string | null) => {
    for (const text of Object.values(texts)) bytes += text === null ? 0 : Buffer.byteLength(text);
    if (bytes > maxTextBytes) throw tooMuchText(bytes, maxTextBytes);
    return newRow({ parentId, name, title, ...texts }, now, newId());
  };
  const top = toRow(source, (await readTexts(view, [source])).get(source.id)!, null);
  const rows = [top];
  const rowOf = new Map<Descendant | undefined, NewRow>([[undefined, top]]);
  const parents = new Map<NewRow, NewRow>();
  const options = {
    maxFolders: maxFolders - 1,
    tooManyFolders: () => tooManyFolders(maxFolders),
    reportDamage,
  };
  for await (const some of readSubtree(view, source, options)) {
    for (const { descendant, texts } of some) {
      await beforeRows(1);
      const parent = rowOf.get(descendant.above)!;
      const row = toRow(descendant.folder, texts, parent.id);
      parent.childCount++;
      rows.push(row);
      rowOf.set(descendant, row);
      parents.set(row, parent);
    }
  }
  for (const row of rows.toReversed()) {
    const parent = parents.get(row);
    if (parent) parent.height = Math.max(parent.height, row.height + 1);
  }
  return rows;
}

function tooManyFolders(maxFolders: number): Refusal {
  return new Refusal(
    'TOO_EXPENSIVE',
    `A duplicate has at most ${maxFolders} folders. Duplicate the subfolders one by one.`,
    { facts: { field: 'duplicateFolder', cost: maxFolders + 1, limit: maxFolders } },
  );
}

function tooMuchText(cost: number, limit: number): Refusal {
  return new Refusal(
    'TOO_EXPENSIVE',
    `The texts of a duplicate have at most ${limit} bytes. Duplicate the subfolders one by one.`,
    { facts: { field: 'duplicateFolder', cost, limit } },
  );
}

async function checkDestination(view: TreeView, { rows, parentId }: Copy): Promise<Folder> {
  const parent = await requireWritable(view, parentId);
  checkDepth(view, parent, 1 + rows[0]!.height);
  return parent;
}

/** Returns the requested name, or the first free one of: the same name (only in another parent), "NAME (copy)", "NAME (copy 2)". */
async function chooseName(
  { reader }: TreeView,
  source: Folder,
  parent: Folder,
  name: string | undefined,
): Promise<string> {
  if (name !== undefined) {
    await checkNameIsFree(reader, parent.id, name);
    return name;
  }
  const firstNumber = parent.id === source.parentId ? 1 : 0;
  for (let start = firstNumber; start < maxCandidates; start += candidatesPerRead) {
    const names = Array.from({ length: candidatesPerRead }, (_, index) =>
      nameOfCopy(source.name, start + index),
    );
    const rows = await reader.all(findTaken, { parentId: parent.id, names }, names.length);
    const taken = new Set(rows.map((row) => row.name));
    const free = names.find((each) => !taken.has(each));
    if (free !== undefined) return free;
  }
  throw nameTaken(nameOfCopy(source.name, maxCandidates));
}

/** The copy of a copy gets a higher number instead of a longer name. */
function nameOfCopy(name: string, number: number): string {
  if (number === 0) return name;
  const suffix = number === 1 ? ' (copy)' : ` (copy ${number})`;
  const base = /^(.+) \(copy(?: \d+)?\)$/su.exec(name)?.[1] ?? name;
  return `${[...base].slice(0, maxFolderNameLength - suffix.length).join('')}${suffix}`;
}

type NamedRow = NewRow & { readonly parentId: string };

function withName(row: NewRow, name: string, parentId: string): NamedRow {
  return { ...row, name, sortKey: sortKey(name), foldedName: foldForStorage(name), parentId };
}

async function finishCopy(
  transaction: Transaction,
  view: TreeView,
  { rows, source, sourcePath }: Copy,
  { id, parentId, name, height }: NamedRow,
  by: ChangeOrigin,
): Promise<DuplicatedFolder> {
  const parentPath = view.ancestry.pathTo(parentId)!;
  await addChildren(transaction, parentPath, { count: 1, addedDepth: 1 + height });
  const pathIds = [...parentPath, id];
  record(transaction, {
    kind: 'DUPLICATE_FOLDER',
    ...by,
    folderId: id,
    pathIds,
    path: await readJournalPath(view, pathIds, name),
    formerPath: sourcePath,
    after: { name, count: rows.length, sourceId: source.id },
  });
  const folder = await requireFolder(viewTree(transaction, view.access), id);
  return { id, folder, count: rows.length };
}
