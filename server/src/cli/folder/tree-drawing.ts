/** Draws a tree as lines or nested JSON from folders in depth-first order. */

import { formatJson } from '../terminal/output.ts';
import { escapeControls } from '../terminal/escape-text.ts';

export interface TreeFolder {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly accessLevel: string;
}

export interface Branch {
  readonly folder: TreeFolder;
  /** 1 for a direct subfolder. */
  readonly depth: number;
  /** Whether this is the last folder in its parent. */
  readonly isLast: boolean;
}

const lines = { more: '├── ', last: '└── ', through: '│   ', none: '    ' };
const asciiLines = { more: '|-- ', last: '`-- ', through: '|   ', none: '    ' };

export async function* drawTree(
  branches: AsyncIterable<Branch>,
  { isAscii }: { readonly isAscii: boolean },
): AsyncGenerator<string> {
  const { more, last, through, none } = isAscii ? asciiLines : lines;
  /** For each level, whether the ancestor is the last folder in its parent. */
  const isLastAt: boolean[] = [];
  for await (const { folder, depth, isLast } of branches) {
    isLastAt[depth] = isLast;
    const branches = isLastAt.slice(1, depth).map((isDone) => (isDone ? none : through));
    yield branches.join('') + (isLast ? last : more) + label(folder);
  }
}

function label({ name, title }: TreeFolder): string {
  return title === name ? escapeControls(name) : `${escapeControls(name)}  (${escapeControls(title)})`;
}

/** Yields the parts of one JSON text. Subfolders are in the field `folders`. */
export async function* nestTree(top: TreeFolder, branches: AsyncIterable<Branch>): AsyncGenerator<string> {
  let depth = 0;
  yield opened(top);
  let isFirst = true;
  for await (const branch of branches) {
    const closed = ']}'.repeat(Math.max(0, depth - branch.depth + 1));
    const comma = isFirst || branch.depth > depth ? '' : ',';
    yield `${closed}${comma}\n${opened(branch.folder)}`;
    ({ depth } = branch);
    isFirst = false;
  }
  yield ']}'.repeat(depth + 1);
}

function opened(folder: TreeFolder): string {
  return `${formatJson(folder).slice(0, -1)},"folders":[`;
}
