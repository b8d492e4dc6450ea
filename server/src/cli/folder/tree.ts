/** `espalier folder tree`: draws the folders below a folder while they are read. */

import type { Client, FolderDetails } from '@espalier/client';
import { isUtf8Locale } from '../../config/command-line.ts';
import { wholeNumber } from '../../config/setting.ts';
import { apiCommand } from '../api/connection.ts';
import { withSmallerPages, itemsOf, noItems, pageInfo, type Page } from '../api/pages.ts';
import { folderWord } from '../api/resolve-names.ts';
import { countFolders, createLines, escapeControls, escaped, formatJson } from '../terminal/output.ts';
import { findFolder } from './folder-path.ts';

interface TreeFolder {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly accessLevel: string;
}

/** The last subfolder, which must be known before the others arrive. */
interface LastSubfolder {
  readonly folders: { readonly items: readonly { readonly id: string }[] };
}

interface Edge {
  readonly depth: number;
  readonly node: TreeFolder & LastSubfolder;
}

const query = `query($id: ID!, $depth: Int, $first: Int, $after: String) { folder(id: $id) {
  folders(last: 1) { items { id } }
  descendants(depth: $depth, first: $first, after: $after) {
    items: edges { depth node { id name title accessLevel folders(last: 1) { items { id } } } }
    ${pageInfo} } } }`;

/** Half of the limit of a response, because each folder also reads its last child. */
const pageSize = 5_000;

export const tree = apiCommand({
  about: 'Draw the tree of folders in a folder',
  words: [{ ...folderWord, isOptional: true }],
  options: {
    depth: {
      short: 'L',
      value: 'number',
      about: 'Limit the number of levels; 1 means only the direct subfolders',
      kind: wholeNumber(1, 1_000),
    },
    ascii: { about: 'Draw with |-- and `--; default if the locale is not UTF-8' },
  },
  details: 'Without a path, draws the whole tree. A title that differs from the name follows in parentheses.',
  examples: ['espalier folder tree', 'espalier folder tree /Places --depth 2'],
  async run({ client, signal }, { words, options }) {
    const { depth } = options;
    const top = await findFolder(client, words[0]);
    const branches = readBranches(client, top, { depth, signal });
    const lines = createLines();
    if (options.json) {
      const { id, name, title, accessLevel } = top;
      for await (const text of nestTree({ id, name, title, accessLevel }, branches)) await lines.add(text);
      await lines.end('\n');
      return;
    }
    let folders = 0;
    await lines.add(`${escapeControls(top.path)}\n`);
    for await (const line of drawTree(branches, { isAscii: options.ascii || !isUtf8Locale() })) {
      folders++;
      await lines.add(`${line}\n`);
    }
    await lines.end(`\n${countFolders(folders)}\n`);
  },
});

/** Yields the folders in depth-first order. */
async function* readBranches(
  client: Client,
  top: FolderDetails,
  { depth, signal }: { depth: number | undefined; signal: AbortSignal },
): AsyncGenerator<Branch> {
  /** The id of the last subfolder of each ancestor. */
  const last: (string | undefined)[] = [];
  const read = withSmallerPages<Edge>(async (page) => {
    type Answer = { folder: (LastSubfolder & { descendants: Page<Edge> }) | null };
    const { folder } = await client.query<Answer, object>(query, { id: top.id, depth, ...page }, { signal });
    last[0] ??= folder?.folders.items[0]?.id;
    return folder?.descendants ?? noItems;
  });
  for await (const { depth: level, node } of itemsOf(read, { pageSize })) {
    const { folders, ...folder } = node;
    last[level] = folders.items[0]?.id;
    yield { folder, depth: level, isLast: last[level - 1] === folder.id };
  }
}

export interface Branch {
  readonly folder: TreeFolder;
  /** 1 for a direct subfolder. */
  readonly depth: number;
  /** Whether this is the last folder in its parent. */
  readonly isLast: boolean;
}

const unicodeLines = { more: '├── ', last: '└── ', through: '│   ', none: '    ' };
const asciiLines = { more: '|-- ', last: '`-- ', through: '|   ', none: '    ' };

export async function* drawTree(
  branches: AsyncIterable<Branch>,
  { isAscii }: { readonly isAscii: boolean },
): AsyncGenerator<string> {
  const { more, last, through, none } = isAscii ? asciiLines : unicodeLines;
  /** For each level, whether the ancestor is the last folder in its parent. */
  const isLastAt: boolean[] = [];
  for await (const { folder, depth, isLast } of branches) {
    isLastAt[depth] = isLast;
    const branches = isLastAt.slice(1, depth).map((isDone) => (isDone ? none : through));
    yield branches.join('') + (isLast ? last : more) + label(folder);
  }
}

function label({ name, title }: TreeFolder): string {
  return title === name ? escapeControls(name) : escaped`${name}  (${title})`;
}

/** Yields the parts of one JSON text. Subfolders are in the field `folders`. */
export async function* nestTree(top: TreeFolder, branches: AsyncIterable<Branch>): AsyncGenerator<string> {
  let depth = 0;
  yield openJson(top);
  let isFirst = true;
  for await (const branch of branches) {
    const closed = ']}'.repeat(Math.max(0, depth - branch.depth + 1));
    const comma = isFirst || branch.depth > depth ? '' : ',';
    yield `${closed}${comma}\n${openJson(branch.folder)}`;
    ({ depth } = branch);
    isFirst = false;
  }
  yield ']}'.repeat(depth + 1);
}

function openJson(folder: TreeFolder): string {
  return `${formatJson(folder).slice(0, -1)},"folders":[`;
}
