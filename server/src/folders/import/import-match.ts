/**
 * Compares the plan of an import with the folders that exist: which rows are new, and which existing folders get new texts. It
 * refuses what the viewer may not do. A hidden folder is treated as missing, unless the viewer may create folders in its parent:
 * then the import fails, because the name is taken.
 */

import { accessLevels, type AccessLevel } from '../../access/access.ts';
import { list, rows, sql } from '../../database/statement.ts';
import { Refusal } from '../../refusal.ts';
import { missingLevel, nameTaken } from '../change-rules.ts';
import { foldForStorage, type FolderTexts } from '../folder-texts.ts';
import { appendToJournalPath } from '../journal-paths.ts';
import type { NewRow } from '../new-folder-rows.ts';
import type { TreeView } from '../tree-view.ts';
import { quotePath, type ImportPlan } from './import-plan.ts';

/** What an import does with a folder that exists: refuse the import, keep the folder, or set the texts of the input. */
export type OnExisting = 'FAIL' | 'KEEP' | 'UPDATE';

/** A folder in which the import creates folders. */
export interface ParentFolder {
  readonly id: string;
  readonly name: string;
  readonly version: number;
  readonly accessLevel: AccessLevel;
  readonly pathIds: readonly string[];
  /** For the journal. */
  readonly path: string;
}

/** The existing folder with the same path as a row of the plan. */
export interface MatchedFolder extends ParentFolder {
  readonly height: number;
}

/** A row of the plan, with the existing folder that is its parent. */
export interface PlacedRow {
  readonly row: NewRow;
  readonly parent: ParentFolder;
}

export interface TextsUpdate {
  readonly folder: MatchedFolder;
  readonly before: FolderTexts;
  readonly after: FolderTexts & { readonly foldedTitle: string | null };
}

export interface ImportMatch {
  /** The topmost row of each new subtree. */
  readonly tops: readonly PlacedRow[];
  readonly existing: ReadonlyMap<NewRow, MatchedFolder>;
  readonly updates: ReadonlyMap<NewRow, TextsUpdate>;
}

interface MatchOptions {
  readonly destination: ParentFolder;
  readonly onExisting: OnExisting;
  /** An earlier match. The texts of folders that have not changed since then are not read again. */
  readonly earlierMatch?: ImportMatch | undefined;
}

interface FoundFolder {
  readonly id: string | null;
  readonly version: number;
  readonly height: number;
}

// Looks up each name separately. With a join, PostgreSQL may read all folders if the table has grown since it cached the query
// plan. With `order by`, it uses the index of names even if it made the query plan while there were few folders.
const named = sql`from folders where parent_id = each."parentId" and name >= each.name and name <= each.name
  order by name limit 1`;
const findByNames = sql<
  { names: readonly { parentId: string; name: string; position: number }[] },
  FoundFolder
>`
  select (select id ${named}) as id, (select version ${named}) as version, (select height ${named}) as height
  from ${rows('names', { parentId: 'id', name: 'text', position: 'integer' })} order by each.position`;

const findTexts = sql<{ ids: readonly string[] }, FolderTexts & { id: string }>`
  select id, title, icon, description, properties from folders where id in (select value from ${list('ids')})`;

const { READ, WRITE } = accessLevels;
const noTexts: FolderTexts = { title: null, icon: null, description: null, properties: null };
const sliceRows = 1_000;
/** Texts may be long. */
const textsPerSlice = 250;
/** All existing folders change in one transaction, and other changes wait for it. */
export const maxChangedFolders = 10_000;

export async function matchImport(
  view: TreeView,
  plan: ImportPlan,
  options: MatchOptions,
): Promise<ImportMatch> {
  const matcher = new ImportMatcher(view, plan, options);
  await matcher.findExisting();
  await matcher.findUpdates();
  const { tops, existing, updates } = matcher;
  const changedIds = new Set([
    ...tops.map(({ parent }) => parent.id),
    ...[...updates.values()].map(({ folder }) => folder.id),
  ]);
  if (changedIds.size > maxChangedFolders) throw tooManyChanged(changedIds.size);
  return { tops, existing, updates };
}

class ImportMatcher implements ImportMatch {
  readonly tops: PlacedRow[] = [];
  readonly existing = new Map<NewRow, MatchedFolder>();
  readonly updates = new Map<NewRow, TextsUpdate>();
  readonly #view: TreeView;
  readonly #plan: ImportPlan;
  readonly #options: MatchOptions;
  #rowsById: Map<string, NewRow> | undefined;

  constructor(view: TreeView, plan: ImportPlan, options: MatchOptions) {
    this.#view = view;
    this.#plan = plan;
    this.#options = options;
  }

  /** Goes level by level, because a row can match an existing folder only if its parent row does. */
  async findExisting(): Promise<void> {
    const { destination, onExisting } = this.#options;
    const rowsInside = onExisting === 'FAIL' ? undefined : groupByParent(this.#plan.rows);
    let level: PlacedRow[] = this.#plan.tops.map((row) => ({ row, parent: destination }));
    while (level.length > 0) {
      const next: PlacedRow[] = [];
      for (const some of slices(level, sliceRows)) {
        const names = some.map(({ row: { name }, parent }, position) => ({
          parentId: parent.id,
          name,
          position,
        }));
        const found = await this.#view.reader.all(findByNames, { names }, names.length);
        for (const [index, each] of some.entries()) {
          const folder = this.#match(each, found[index]!);
          for (const row of (folder && rowsInside?.get(each.row.id)) ?? [])
            next.push({ row, parent: folder! });
        }
        await yieldEventLoop();
      }
      level = next;
    }
  }

  #match({ row, parent }: PlacedRow, { id, version, height }: FoundFolder): MatchedFolder | undefined {
    const { access } = this.#view;
    const { onExisting } = this.#options;
    if (id !== null && onExisting !== 'FAIL') {
      const accessLevel = access.levelOf(id, parent.accessLevel);
      if (access.isVisible(id, accessLevel)) {
        const pathIds = [...parent.pathIds, id];
        const path = appendToJournalPath(parent.path, row.name);
        const folder = { id, name: row.name, version, height, accessLevel, pathIds, path };
        this.existing.set(row, folder);
        return folder;
      }
    }
    this.#requireWrite(parent, this.#parentRow(row));
    if (id !== null) throw this.#nameTaken(row);
    this.tops.push({ row, parent });
    return undefined;
  }

  /** The refusal is the same whether or not the viewer may see the folder with that name. */
  #nameTaken(row: NewRow): Refusal {
    if (this.#options.onExisting !== 'FAIL') return this.#withPath(row, nameTaken(row.name));
    return nameTaken(row.name, 'To merge with the existing folder, set `onExisting` to KEEP or UPDATE.');
  }

  async findUpdates(): Promise<void> {
    const { inputTexts } = this.#plan;
    const { earlierMatch } = this.#options;
    const unread: [NewRow, MatchedFolder][] = [];
    for (const [row, folder] of this.existing) {
      if (!inputTexts.has(row)) continue;
      const before = earlierMatch?.existing.get(row);
      const update = earlierMatch?.updates.get(row);
      if (!before || !isSameFolder(before, folder)) unread.push([row, folder]);
      // The path of the folder may have changed since.
      else if (update) this.updates.set(row, { ...update, folder });
    }
    for (const some of slices(unread, textsPerSlice)) {
      const ids = some.map(([, { id }]) => id);
      const texts = new Map(
        (await this.#view.reader.all(findTexts, { ids }, ids.length)).map(({ id, ...each }) => [id, each]),
      );
      for (const [row, folder] of some) this.#addUpdate(row, folder, texts.get(folder.id)!);
      await yieldEventLoop();
    }
  }

  /** The viewer sees only the name of a passage. A comparison with its stored texts would reveal them. */
  #addUpdate(row: NewRow, folder: MatchedFolder, stored: FolderTexts): void {
    const before = folder.accessLevel < READ ? noTexts : stored;
    const after = { ...before, ...this.#plan.inputTexts.get(row) };
    if ((Object.keys(noTexts) as (keyof FolderTexts)[]).every((key) => after[key] === before[key])) return;
    this.#requireWrite(folder, row);
    const foldedTitle = after.title && foldForStorage(after.title);
    this.updates.set(row, { folder, before, after: { ...after, foldedTitle } });
  }

  /** `row` is the row of the plan that matches the folder; undefined for the destination. */
  #requireWrite(folder: ParentFolder, row: NewRow | undefined): void {
    if (folder.accessLevel >= WRITE) return;
    const refusal = missingLevel(folder, WRITE);
    throw row ? this.#withPath(row, refusal) : refusal;
  }

  #withPath(row: NewRow, { code, message }: Refusal): Refusal {
    const names: string[] = [];
    for (let each: NewRow | undefined = row; each; each = this.#parentRow(each)) names.unshift(each.name);
    return new Refusal(code, `${quotePath(names.join('/'))}: ${message}`);
  }

  #parentRow({ parentId }: NewRow): NewRow | undefined {
    if (parentId === null) return undefined;
    this.#rowsById ??= new Map(this.#plan.rows.map((row) => [row.id, row]));
    return this.#rowsById.get(parentId);
  }
}

function tooManyChanged(count: number): Refusal {
  return new Refusal(
    'TOO_EXPENSIVE',
    `The import changes ${count} existing folders; the maximum for one import is ${maxChangedFolders}. Import the folders in several parts.`,
  );
}

function isSameFolder(one: MatchedFolder, other: MatchedFolder): boolean {
  return one.id === other.id && one.version === other.version && one.accessLevel === other.accessLevel;
}

function groupByParent(all: readonly NewRow[]): Map<string, NewRow[]> {
  const groups = new Map<string, NewRow[]>();
  for (const row of all) {
    if (row.parentId === null) continue;
    const group = groups.get(row.parentId);
    if (group) group.push(row);
    else groups.set(row.parentId, [row]);
  }
  return groups;
}

export function* slices<T>(all: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < all.length; start += size) yield all.slice(start, start + size);
}

export function yieldEventLoop(): Promise<void> {
  return new Promise(setImmediate);
}
