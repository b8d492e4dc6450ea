/** The inputs of mutations, and the checks of inputs that do not depend on the current tree. */

import type { Texts } from './tree-model.ts';

export class ModelRefusalError extends Error {
  readonly code: string;
  /** The current version, after a stale `expectedVersion`. */
  readonly version: number | undefined;

  constructor(code: string, version?: number) {
    super(code);
    this.code = code;
    this.version = version;
  }
}

export interface TextsInput {
  readonly title?: string | null | undefined;
  readonly icon?: string | null | undefined;
  readonly description?: string | null | undefined;
  readonly properties?: Record<string, unknown> | null | undefined;
}

export interface TreeInput extends TextsInput {
  readonly name: string;
  readonly folders?: readonly TreeInput[] | undefined;
}

export interface PathInput extends TextsInput {
  readonly path: string;
}

export function checkName(input: string): string {
  const name = input.normalize('NFC');
  const { length } = [...name];
  if (!name.isWellFormed() || length < 1 || length > 255 || /[/\p{Cc}]/u.test(name)) {
    throw new ModelRefusalError('BAD_INPUT');
  }
  return name;
}

/** The result contains only the fields in the input. */
export function checkTexts({ title, icon, description, properties }: TextsInput): Partial<Texts> {
  return {
    ...(title !== undefined && { title: checkLine(title) }),
    ...(icon !== undefined && { icon: checkLine(icon) }),
    ...(description !== undefined && { description: description || null }),
    ...(properties !== undefined && { properties: properties ?? {} }),
  };
}

function checkLine(input: string | null): string | null {
  const line = input?.normalize('NFC') || null;
  if (line && (!line.isWellFormed() || [...line].length > 255 || /\p{Cc}/u.test(line))) {
    throw new ModelRefusalError('BAD_INPUT');
  }
  return line;
}

export interface CheckedTree {
  readonly name: string;
  texts: Partial<Texts>;
  readonly folders: CheckedTree[];
}

export function checkTrees(input: readonly TreeInput[]): CheckedTree[] {
  const trees = input.map((tree) => ({
    name: checkName(tree.name),
    texts: checkTexts(tree),
    folders: checkTrees(tree.folders ?? []),
  }));
  if (new Set(trees.map(({ name }) => name)).size < trees.length) throw new ModelRefusalError('CONFLICT');
  return trees;
}

/** Also adds parent folders that are not in the list. */
export function parsePaths(list: readonly PathInput[]): CheckedTree[] {
  const tops: CheckedTree[] = [];
  const listed = new Set<CheckedTree>();
  const depthOf = ({ path }: PathInput) => path.split('/').length;
  // The server also adds shorter paths first.
  for (const input of list.toSorted((one, other) => depthOf(one) - depthOf(other))) {
    let tree: CheckedTree | undefined;
    for (const step of input.path.split('/')) {
      const name = checkName(step);
      const siblings: CheckedTree[] = tree?.folders ?? tops;
      tree = siblings.find((sibling) => sibling.name === name);
      if (!tree) siblings.push((tree = { name, texts: {}, folders: [] }));
    }
    if (listed.has(tree!)) throw new ModelRefusalError('CONFLICT');
    listed.add(tree!);
    tree!.texts = checkTexts(input);
  }
  return tops;
}
