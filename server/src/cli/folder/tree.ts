/** `espalier folder tree`: draws the folders below a folder while they are read. */

import type { Client, FolderDetails } from '@espalier/client';
import { isUtf8Locale } from '../../config/config.ts';
import { wholeNumber } from '../../config/setting.ts';
import { UsageError } from '../../config/start-error.ts';
import { command, json } from '../command.ts';
import { connectionSettings, withConnection } from '../api/connection.ts';
import { createLines } from '../terminal/output.ts';
import { halving, itemsOf, pageInfo, type Page } from '../api/pages.ts';
import { countFolders } from '../terminal/progress.ts';
import { escapeControls } from '../terminal/escape-text.ts';
import { folderWord } from '../api/resolve-names.ts';
import { findFolder } from './folder-path.ts';
import { drawTree, nestTree, type Branch } from './tree-drawing.ts';

interface Edge {
  readonly depth: number;
  readonly node: {
    readonly id: string;
    readonly name: string;
    readonly title: string;
    readonly accessLevel: string;
    /** Contains the last subfolder, which must be known before the others arrive. */
    readonly folders: { readonly items: readonly { readonly id: string }[] };
  };
}

const query = `query($id: ID!, $depth: Int, $first: Int, $after: String) { folder(id: $id) {
  folders(last: 1) { items { id } }
  descendants(depth: $depth, first: $first, after: $after) {
    items: edges { depth node { id name title accessLevel folders(last: 1) { items { id } } } }
    ${pageInfo} } } }`;

/** Half of the limit of a response, because each folder also reads its last child. */
const pageSize = 5_000;

export const tree = command({
  words: [{ ...folderWord, isOptional: true }],
  options: {
    depth: {
      short: 'L',
      value: 'number',
      about: 'Limit the number of levels; 1 is only the direct subfolders',
    },
    ascii: { about: 'Draw with |-- and `--; default if the locale is not UTF-8' },
    json,
  },
  settings: connectionSettings,
  details: 'Without a path, draws the whole tree. A title that differs from the name follows in parentheses.',
  async run({ words, options, flags }) {
    const depth = options.depth === undefined ? undefined : wholeNumber(1, 1_000).parse(options.depth);
    if (options.depth !== undefined && depth === undefined) {
      throw new UsageError('--depth takes a whole number from 1 to 1000.');
    }
    await withConnection({ flags }, async ({ client, signal }) => {
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
    });
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
  const read = halving<Edge>(async (page) => {
    type Answer = { folder: (Edge['node'] & { descendants: Page<Edge> }) | null };
    const { folder } = await client.query<Answer, object>(query, { id: top.id, depth, ...page }, { signal });
    last[0] ??= folder?.folders.items[0]?.id;
    return folder?.descendants ?? { items: [], pageInfo: { endCursor: null, hasNextPage: false } };
  });
  for await (const { depth: level, node } of itemsOf(read, { pageSize })) {
    const { folders, ...folder } = node;
    last[level] = folders.items[0]?.id;
    yield { folder, depth: level, isLast: last[level - 1] === folder.id };
  }
}
