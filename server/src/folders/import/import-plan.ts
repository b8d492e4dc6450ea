/** Checks the input of an import and plans its rows, parents first. */

import { Refusal } from '../../refusal.ts';
import { maxDepth, tooDeep } from '../change-rules.ts';
import { newFolderIds, newRow, type NewRow } from '../folder-rows.ts';
import { toFolderName, toTexts, type TextsInput } from '../folder-texts.ts';

/** A folder with its subtree. */
export interface ImportedTree extends TextsInput {
  readonly name: string;
  readonly folders?: readonly ImportedTree[] | null | undefined;
}

/** A folder by its path below the parent. Missing ancestors are created with only a name. */
export interface ImportedPath extends TextsInput {
  readonly path: string;
}

/** Parents come before their children. Rows at the top have no parent yet. */
export interface ImportPlan {
  readonly rows: readonly NewRow[];
  readonly tops: readonly NewRow[];
  /** The number of levels. */
  readonly height: number;
}

export interface PlanOptions {
  readonly now: number;
  readonly maxFolders: number;
  /** Called before `count` entries are checked. A returned promise is awaited first. */
  readonly beforeRows: (count: number) => Promise<void> | undefined;
}

export async function planImport(
  {
    tree,
    list: paths,
  }: {
    readonly tree?: readonly ImportedTree[] | null | undefined;
    readonly list?: readonly ImportedPath[] | null | undefined;
  },
  { now, maxFolders, beforeRows }: PlanOptions,
): Promise<ImportPlan> {
  if (!tree === !paths) throw new Refusal('BAD_INPUT', 'Give `tree` or `list`, one of them.');
  const plan = { rows: [] as NewRow[], tops: [] as NewRow[], height: 0 };
  const names = new Map<NewRow | undefined, Map<string, NewRow>>();
  const parents = new Map<NewRow, NewRow | undefined>();
  const newId = newFolderIds(now);

  /** Adds a folder. Returns undefined if its parent already has a folder with this name. */
  function add(
    parent: NewRow | undefined,
    name: string,
    input: TextsInput,
    depth: number,
  ): NewRow | undefined {
    const siblings = names.get(parent) ?? new Map<string, NewRow>();
    names.set(parent, siblings);
    if (siblings.has(name)) return undefined;
    const row = newRow({ parentId: parent?.id ?? null, name, ...toTexts(input) }, now, newId());
    siblings.set(name, row);
    if (plan.rows.push(row) > maxFolders) {
      throw new Refusal(
        'TOO_EXPENSIVE',
        `One import takes at most ${maxFolders} folders. Import in several parts: first the folders at the top, then what is inside each, with its id as \`parentId\`.`,
        {
          facts: { field: 'importFolders', price: plan.rows.length, budget: maxFolders },
        },
      );
    }
    if (parent) parent.childCount++;
    else plan.tops.push(row);
    parents.set(row, parent);
    plan.height = Math.max(plan.height, depth);
    return row;
  }

  const find = (parent: NewRow | undefined, name: string) => names.get(parent)?.get(name);
  await (tree ? addTree(tree, add, beforeRows) : addPaths(paths!, add, find, beforeRows));
  for (const row of plan.rows.toReversed()) {
    const parent = parents.get(row);
    if (parent) parent.height = Math.max(parent.height, row.height + 1);
  }
  return plan;
}

type Add = (parent: NewRow | undefined, name: string, input: TextsInput, depth: number) => NewRow | undefined;

async function addTree(
  tree: readonly ImportedTree[],
  add: Add,
  beforeRows: PlanOptions['beforeRows'],
): Promise<void> {
  const waiting = tree.toReversed().map((node) => ({
    node,
    parent: undefined as NewRow | undefined,
    depth: 1,
    where: '',
  }));
  while (waiting.length > 0) {
    await beforeRows(1);
    const { node, parent, depth, where } = waiting.pop()!;
    const path = where === '' ? node.name : `${where}/${node.name}`;
    const row = withPath(path, () => add(parent, toFolderName(node.name), node, depth));
    if (!row) throw duplicatePath(path);
    for (const inner of node.folders?.toReversed() ?? []) {
      waiting.push({ node: inner, parent: row, depth: depth + 1, where: path });
    }
  }
}

async function addPaths(
  paths: readonly ImportedPath[],
  add: Add,
  find: (parent: NewRow | undefined, name: string) => NewRow | undefined,
  beforeRows: PlanOptions['beforeRows'],
): Promise<void> {
  // Shorter paths first, so that a folder comes before its subtree in any order of the list.
  const byLength: { input: ImportedPath; names: string[] }[][] = [];
  for (const input of paths) {
    await beforeRows(1);
    const names = input.path.replace(/^\/|\/$/g, '').split('/', maxDepth + 1);
    (byLength[names.length] ??= []).push({ input, names });
  }
  for (const { input, names } of byLength.flatMap((some) => some ?? [])) {
    await beforeRows(1);
    let parent: NewRow | undefined;
    withPath(input.path, () => {
      if (names.length > maxDepth) throw tooDeep();
      names.map(toFolderName).forEach((name, index) => {
        const isLast = index === names.length - 1;
        const row = add(parent, name, isLast ? input : {}, index + 1);
        if (!row && isLast) throw duplicatePath(input.path);
        parent = row ?? find(parent, name);
      });
    });
  }
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
  return new Refusal('CONFLICT', `${quotePath(path)} is there twice.`);
}

function quotePath(path: string): string {
  return JSON.stringify(path.length > 300 ? `${path.slice(0, 300)}…` : path);
}
