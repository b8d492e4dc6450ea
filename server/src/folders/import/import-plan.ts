/** Checks the input of an import and plans its rows, parents first. */

import { Refusal } from '../../refusal.ts';
import { maxTreeDepth, tooDeep } from '../change-rules.ts';
import { newFolderIds, newRow, type NewRow } from '../new-folder-rows.ts';
import { toFolderName, toTexts, type FolderTexts, type FolderTextsInput } from '../folder-texts.ts';

/** A folder with its subtree. */
export interface ImportedTree extends FolderTextsInput {
  readonly name: string;
  readonly folders?: readonly ImportedTree[] | null | undefined;
}

/** A folder by its path below the parent. Missing ancestors are created with only a name. */
export interface ImportedPath extends FolderTextsInput {
  readonly path: string;
}

/** Parents come before their children. Rows at the top have no parent yet. */
export interface ImportPlan {
  readonly rows: readonly NewRow[];
  readonly tops: readonly NewRow[];
  /** The number of levels. */
  readonly height: number;
  /** The texts that the input sets, for each row with at least one text. Empty unless the import updates existing folders. */
  readonly inputTexts: ReadonlyMap<NewRow, Partial<FolderTexts>>;
}

export interface PlanOptions {
  readonly now: number;
  readonly maxFolders: number;
  /** Whether the plan contains `inputTexts`. */
  readonly updatesExisting?: boolean;
  /** Called before `count` entries are checked. A returned promise is awaited first. */
  readonly beforeRows: (count: number) => Promise<void> | undefined;
}

export interface ImportInput {
  readonly tree?: readonly ImportedTree[] | null | undefined;
  readonly list?: readonly ImportedPath[] | null | undefined;
}

export async function planImport({ tree, list }: ImportInput, options: PlanOptions): Promise<ImportPlan> {
  if (!tree === !list) throw new Refusal('BAD_INPUT', 'Set either `tree` or `list`, not both.');
  const planner = new ImportPlanner(options);
  await (tree ? planner.addTree(tree) : planner.addPaths(list!));
  planner.setHeights();
  // Does not return the planner itself: its maps would use memory as long as the import runs.
  const { rows, tops, height, inputTexts } = planner;
  return { rows, tops, height, inputTexts };
}

class ImportPlanner {
  readonly rows: NewRow[] = [];
  readonly tops: NewRow[] = [];
  height = 0;
  readonly inputTexts = new Map<NewRow, Partial<FolderTexts>>();
  readonly #options: PlanOptions;
  readonly #newId: () => string;
  readonly #names = new Map<NewRow | undefined, Map<string, NewRow>>();
  readonly #parents = new Map<NewRow, NewRow | undefined>();

  constructor(options: PlanOptions) {
    this.#options = options;
    this.#newId = newFolderIds(options.now);
  }

  async addTree(tree: readonly ImportedTree[]): Promise<void> {
    const top = { parent: undefined as NewRow | undefined, depth: 1, where: '' };
    const waiting = tree.toReversed().map((node) => ({ node, ...top }));
    while (waiting.length > 0) {
      await this.#options.beforeRows(1);
      const { node, parent, depth, where } = waiting.pop()!;
      const path = where === '' ? node.name : `${where}/${node.name}`;
      const row = withPath(path, () => this.#add(parent, toFolderName(node.name), node, depth));
      if (!row) throw duplicatePath(path);
      for (const inner of node.folders?.toReversed() ?? []) {
        waiting.push({ node: inner, parent: row, depth: depth + 1, where: path });
      }
    }
  }

  async addPaths(paths: readonly ImportedPath[]): Promise<void> {
    const { beforeRows } = this.#options;
    // Adds shorter paths first, so that a folder comes before its subtree whatever the order of the list is.
    const byLength: { input: ImportedPath; names: string[] }[][] = [];
    for (const input of paths) {
      await beforeRows(1);
      const names = input.path.replace(/^\/|\/$/g, '').split('/', maxTreeDepth + 1);
      (byLength[names.length] ??= []).push({ input, names });
    }
    for (const { input, names } of byLength.flatMap((some) => some ?? [])) {
      await beforeRows(1);
      withPath(input.path, () => this.#addPath(input, names));
    }
  }

  #addPath(input: ImportedPath, names: readonly string[]): void {
    if (names.length > maxTreeDepth) throw tooDeep();
    let parent: NewRow | undefined;
    names.map(toFolderName).forEach((name, index) => {
      const isLast = index === names.length - 1;
      const row = this.#add(parent, name, isLast ? input : {}, index + 1);
      if (!row && isLast) throw duplicatePath(input.path);
      parent = row ?? this.#names.get(parent)?.get(name);
    });
  }

  /** Returns undefined if the parent already has a folder with this name. */
  #add(parent: NewRow | undefined, name: string, input: FolderTextsInput, depth: number): NewRow | undefined {
    const { now, maxFolders, updatesExisting } = this.#options;
    const siblings = this.#names.get(parent) ?? new Map<string, NewRow>();
    this.#names.set(parent, siblings);
    if (siblings.has(name)) return undefined;
    const texts = toTexts(input);
    const row = newRow({ parentId: parent?.id ?? null, name, ...texts }, now, this.#newId());
    siblings.set(name, row);
    if (updatesExisting && Object.keys(texts).length > 0) this.inputTexts.set(row, texts);
    if (this.rows.push(row) > maxFolders) throw tooManyFolders(this.rows.length, maxFolders);
    if (parent) parent.childCount++;
    else this.tops.push(row);
    this.#parents.set(row, parent);
    this.height = Math.max(this.height, depth);
    return row;
  }

  setHeights(): void {
    for (const row of this.rows.toReversed()) {
      const parent = this.#parents.get(row);
      if (parent) parent.height = Math.max(parent.height, row.height + 1);
    }
  }
}

function tooManyFolders(cost: number, limit: number): Refusal {
  return new Refusal(
    'TOO_EXPENSIVE',
    `An import has at most ${limit} folders. Import in several parts: first the top folders, then the folders inside each of them, with its id as \`parentId\`.`,
    { facts: { field: 'importFolders', cost, limit } },
  );
}

/** Adds the path of the folder to a refusal. */
function withPath<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'BAD_INPUT') throw error;
    throw new Refusal('BAD_INPUT', `${quotePath(path)}: ${error.message}`);
  }
}

function duplicatePath(path: string): Refusal {
  return new Refusal('CONFLICT', `${quotePath(path)} occurs twice in the import. Remove one of the two.`);
}

export function quotePath(path: string): string {
  return JSON.stringify(path.length > 300 ? `${path.slice(0, 300)}…` : path);
}
