/**
 * Importing many folders at once, all or nothing. A large import is checked, then written in slices off the tree, so
 * that others get through in between, and put on the tree in one transaction. What an interrupted import leaves
 * behind is off the tree, where nobody sees it, and is purged later.
 */

import type { Access } from '../access/access.ts';
import type { Database, Transaction } from '../database/database.ts';
import { list, sql } from '../database/statement.ts';
import { takeTurn } from '../journal/journal.ts';
import { Refusal } from '../refusal.ts';
import { addToChildCount, checkDepth, writableFolder } from './change-folders.ts';
import { newFolderIds } from './folder-id.ts';
import { toFolderName } from './folder-name.ts';
import { insertRow, insertRows, newRow, type NewRow } from './folder-rows.ts';
import { toTexts, type GivenTexts } from './folder-texts.ts';
import { viewTree, type Folder } from './folders.ts';
import { purge } from './trash.ts';

/** A folder with what is inside it. */
export interface ImportedTree extends GivenTexts {
  readonly name: string;
  readonly folders?: readonly ImportedTree[] | null | undefined;
}

/** A folder by its path below the parent; folders on the way that are not listed are made, with just a name. */
export interface ImportedPath extends GivenTexts {
  readonly path: string;
}

export interface FolderImport {
  readonly parentId?: string | null | undefined;
  readonly tree?: readonly ImportedTree[] | null | undefined;
  readonly list?: readonly ImportedPath[] | null | undefined;
  /** Of the parent. */
  readonly expectedVersion?: number | null | undefined;
}

export interface ImportOptions {
  readonly database: Database;
  readonly access: Access;
  /** Runs a change in its turn. */
  readonly change: <T>(work: (transaction: Transaction, access: Access) => Promise<T>) => Promise<T>;
  readonly now: number;
  readonly most: number;
}

export interface Imported {
  readonly parentId: string;
  readonly count: number;
}

/** Rows whose parents come first; those at the top have no parent yet. */
interface Plan {
  readonly rows: readonly NewRow[];
  readonly tops: readonly NewRow[];
  readonly height: number;
}

const sliceRows = 1_000;

const markStaged = sql<{ id: string; parentId: string; now: number }>`
  update folders set detached_at = ${'now'}, detached_from = ${'parentId'}, detached_because = 'import'
  where id = ${'id'}`;

const findTaken = sql<{ parentId: string; names: readonly string[] }, { name: string }>`
  select folders.name from ${list('names')} cross join folders
  where folders.parent_id = ${'parentId'} and folders.name = each.value limit 1`;

const publish = sql<{ ids: readonly string[]; parentId: string }>`
  update folders set parent_id = ${'parentId'} where id in (select value from ${list('ids')})`;

const erase = sql<{ id: string }>`delete from folders where id = ${'id'}`;

export async function importFolders(options: ImportOptions, given: FolderImport): Promise<Imported> {
  const { database, access, change, now } = options;
  const plan = await planOf(given, options);
  // Judged at once, before the work, and again when it is done.
  const parent = await checkDestination(database, access, given, plan);
  if (plan.rows.length <= sliceRows) {
    await change(async (transaction, latest) => {
      const { id } = await checkDestination(transaction, latest, given, plan);
      await insertRows(transaction, plan.rows.map(under(id)));
      await addToChildCount(transaction, id, plan.tops.length);
    });
  } else {
    await importStaged(options, given, plan, parent.id, now);
  }
  return { parentId: parent.id, count: plan.rows.length };
}

async function importStaged(
  { database, change }: ImportOptions,
  given: FolderImport,
  plan: Plan,
  parentId: string,
  now: number,
): Promise<void> {
  const stage = newRow({ parentId: null, name: 'import' }, now);
  await database.transaction(async (transaction) => {
    await takeTurn(transaction);
    await insertRow(transaction, stage);
    await transaction.run(markStaged, { id: stage.id, parentId, now });
  });
  try {
    for (const rows of slices(plan.rows)) {
      await database.transaction(async (transaction) => {
        await takeTurn(transaction);
        await insertRows(transaction, rows.map(under(stage.id)));
      });
      await othersFirst();
    }
    await change(async (transaction, latest) => {
      const { id } = await checkDestination(transaction, latest, given, plan);
      for (const tops of slices(plan.tops)) {
        await transaction.run(publish, { ids: tops.map((top) => top.id), parentId: id });
        await othersFirst();
      }
      await addToChildCount(transaction, id, plan.tops.length);
      await transaction.run(erase, { id: stage.id });
    });
  } catch (error) {
    await purge(database, [stage.id]);
    throw error;
  }
}

async function checkDestination(
  reader: Database | Transaction,
  access: Access,
  given: FolderImport,
  { tops, height }: Plan,
): Promise<Folder> {
  const view = viewTree(reader, access);
  const parent = await writableFolder(view, given.parentId ?? access.rootId, given.expectedVersion);
  checkDepth(view, parent, height);
  const taken = await reader.get(findTaken, { parentId: parent.id, names: tops.map(({ name }) => name) });
  if (taken) {
    throw new Refusal('CONFLICT', `The name ${JSON.stringify(taken.name)} is not free in that folder.`);
  }
  return parent;
}

async function planOf({ tree, list: paths }: FolderImport, { now, most }: ImportOptions): Promise<Plan> {
  if (!tree === !paths) throw new Refusal('BAD_INPUT', 'Give `tree` or `list`, one of them.');
  const plan = { rows: [] as NewRow[], tops: [] as NewRow[], height: 0 };
  const names = new Map<NewRow | undefined, Map<string, NewRow>>();
  const newId = newFolderIds(now);

  /** Adds a folder; undefined if its parent has one of this name already. */
  function add(
    parent: NewRow | undefined,
    name: string,
    given: GivenTexts,
    depth: number,
  ): NewRow | undefined {
    const siblings = names.get(parent) ?? new Map<string, NewRow>();
    names.set(parent, siblings);
    if (siblings.has(name)) return undefined;
    const row = newRow({ parentId: parent?.id ?? null, name, ...toTexts(given) }, now, newId());
    siblings.set(name, row);
    if (plan.rows.push(row) > most) {
      throw new Refusal(
        'TOO_EXPENSIVE',
        `One import takes at most ${most} folders. Import in several parts.`,
        {
          facts: { field: 'importFolders', price: plan.rows.length, budget: most },
        },
      );
    }
    if (parent) parent.childCount++;
    else plan.tops.push(row);
    plan.height = Math.max(plan.height, depth);
    return row;
  }

  await (tree ? addTree(tree, add) : addPaths(paths!, add, (parent, name) => names.get(parent)?.get(name)));
  return plan;
}

type Add = (parent: NewRow | undefined, name: string, given: GivenTexts, depth: number) => NewRow | undefined;

async function addTree(tree: readonly ImportedTree[], add: Add): Promise<void> {
  const waiting = tree.toReversed().map((node) => ({
    node,
    parent: undefined as NewRow | undefined,
    depth: 1,
    where: '',
  }));
  for (let done = 0; waiting.length > 0; done++) {
    const { node, parent, depth, where } = waiting.pop()!;
    const path = where === '' ? node.name : `${where}/${node.name}`;
    const row = checked(path, () => add(parent, toFolderName(node.name), node, depth));
    if (!row) throw twice(path);
    for (const inner of node.folders?.toReversed() ?? []) {
      waiting.push({ node: inner, parent: row, depth: depth + 1, where: path });
    }
    if (done % sliceRows === 0) await othersFirst();
  }
}

async function addPaths(
  paths: readonly ImportedPath[],
  add: Add,
  find: (parent: NewRow | undefined, name: string) => NewRow | undefined,
): Promise<void> {
  // The shorter first: a folder comes before what is inside it, however the list is ordered.
  const byLength = paths
    .map((given) => ({ given, names: given.path.replace(/^\/|\/$/g, '').split('/') }))
    .toSorted((one, other) => one.names.length - other.names.length);
  for (const [done, { given, names }] of byLength.entries()) {
    let parent: NewRow | undefined;
    checked(given.path, () => {
      names.map(toFolderName).forEach((name, place) => {
        const isLast = place === names.length - 1;
        const row = add(parent, name, isLast ? given : {}, place + 1);
        if (!row && isLast) throw twice(given.path);
        parent = row ?? find(parent, name);
      });
    });
    if (done % sliceRows === 0) await othersFirst();
  }
}

/** Says which folder it was that cannot be imported. */
function checked<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'BAD_INPUT') throw error;
    const shown = path.length > 300 ? `${path.slice(0, 300)}…` : path;
    throw new Refusal('BAD_INPUT', `${JSON.stringify(shown)}: ${error.message}`);
  }
}

function twice(path: string): Refusal {
  return new Refusal('CONFLICT', `${JSON.stringify(path)} is there twice.`);
}

function under(parentId: string): (row: NewRow) => NewRow {
  return (row) => (row.parentId ? row : { ...row, parentId });
}

function* slices<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < all.length; start += sliceRows) yield all.slice(start, start + sliceRows);
}

function othersFirst(): Promise<void> {
  return new Promise(setImmediate);
}
