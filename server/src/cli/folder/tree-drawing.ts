/** Draws a tree as lines or nested JSON from folders in depth-first order. */

import { formatJson } from '../output.ts';
import { escapeControls } from '../escape-text.ts';

export interface TreeFolder {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly accessLevel: string;
}

export interface Branch {
  readonly folder: TreeFolder;
  /** 1 is right inside. */
  readonly depth: number;
  /** No other follows in the same folder. */
  readonly isLast: boolean;
}

const lines = { more: '├── ', last: '└── ', through: '│   ', none: '    ' };
const asciiLines = { more: '|-- ', last: '`-- ', through: '|   ', none: '    ' };

export async function* drawTree(
  branches: AsyncIterable<Branch>,
  { isAscii }: { readonly isAscii: boolean },
): AsyncGenerator<string> {
  const { more, last, through, none } = isAscii ? asciiLines : lines;
  /** For each level, whether the folder on the way is the last one there. */
  const isLastAt: boolean[] = [];
  for await (const { folder, depth, isLast } of branches) {
    isLastAt[depth] = isLast;
    const way = isLastAt.slice(1, depth).map((isDone) => (isDone ? none : through));
    yield way.join('') + (isLast ? last : more) + label(folder);
  }
}

function label({ name, title }: TreeFolder): string {
  return title === name ? escapeControls(name) : `${escapeControls(name)}  (${escapeControls(title)})`;
}

/** The folders inside are `folders` of each. In pieces of one text. */
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
