/**
 * Reads a folder with all that is inside, page by page. Others may move folders between two pages: what would be missed
 * by that is read again. All else that happens meanwhile is told by the changes after the cursor.
 */

import type { RunsDocuments } from './calls.ts';
import { folderFields, toFolder, type Answered, type Folder } from './folder.ts';
import { LiveTree } from './live-tree.ts';
import { halving, type Page } from './pages.ts';

export interface ReadTree {
  /** Of before anything was read. */
  readonly cursor: string;
  readonly tree: LiveTree;
}

export interface ReadOptions {
  readonly pageSize: number;
  readonly signal: AbortSignal;
}

/** `at` is a folder on the way to the last one that was read; it is looked at in the very moment of the page. */
const query = `query($id:ID,$first:Int,$after:String,$at:ID){cursor folder(id:$id){${folderFields} descendants(first:$first,after:$after){items{${folderFields}}pageInfo{endCursor hasNextPage}}}at:folder(id:$at){id name ancestors{id name}}}`;

interface Answer {
  readonly cursor: string;
  readonly folder: (Answered<Folder> & { readonly descendants: Page<Answered<Folder>> }) | null;
  readonly at: (Named & { readonly ancestors: readonly Named[] }) | null;
}

interface Named {
  readonly id: string;
  readonly name: string;
}

/** Undefined if the folder is not there; without an id, it is the root. */
export async function readTree(
  client: Pick<RunsDocuments, 'query'>,
  id: string | undefined,
  options: ReadOptions,
): Promise<ReadTree | undefined> {
  const page = halving(options.pageSize);
  const ask = (after: string | null, at: string | undefined) =>
    page((first) => client.query<Answer, object>(query, { id, first, after, at }, options));

  const { cursor, folder } = await ask(null, id);
  if (!folder) return undefined;
  const tree = new LiveTree(folder.id);
  const torn = new Set<string>();
  put(tree, folder);
  let { items, pageInfo } = folder.descendants;
  while (pageInfo.hasNextPage) {
    const way = tree.way(items.at(-1)!.id);
    // The page goes on inside the last folder that is still at its place; what is left inside the next one is missed.
    for (let depth = way.length; ; depth--) {
      const answer = await ask(pageInfo.endCursor, way[depth - 1]?.id);
      if (!answer.folder) return undefined;
      if (depth > 0 && !isAt(answer.at, tree.rootId, way.slice(0, depth))) continue;
      if (depth < way.length) torn.add(way[depth]!.id);
      put(tree, answer.folder);
      ({ items, pageInfo } = answer.folder.descendants);
      break;
    }
  }
  for (const each of torn) tree.take(each, (await readTree(client, each, options))?.tree);
  return { cursor, tree };
}

function put(tree: LiveTree, { descendants, ...top }: NonNullable<Answer['folder']>): void {
  for (const each of [top, ...descendants.items]) tree.put(toFolder(each));
}

/** Whether a folder is where it was, by the ids and names on the way to it: the places of a list are made of these. */
function isAt(found: Answer['at'], rootId: string, way: readonly Named[]): boolean {
  if (!found) return false;
  const above = found.ancestors.findIndex(({ id }) => id === rootId);
  const now = [...found.ancestors.slice(above + 1), found];
  return (
    above >= 0 &&
    now.length === way.length &&
    now.every(({ id, name }, depth) => id === way[depth]!.id && name === way[depth]!.name)
  );
}
