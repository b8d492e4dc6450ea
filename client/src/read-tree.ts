/**
 * Reads a folder with all that is inside, page by page. Others may move folders between two pages: what would be missed
 * by that is read again. All else that happens meanwhile is told by the changes after the cursor; so that what was read
 * with another level is known then, the levels on the way to each page are read with it.
 */

import type { RunsDocuments } from './calls.ts';
import { folderFields, toFolder, type Answered, type Folder } from './folder.ts';
import { LiveTree, type Levelled, type ReadPart } from './live-tree.ts';
import { halving, type Page } from './pages.ts';

export interface ReadTree extends ReadPart {
  /** Of before anything was read. */
  readonly cursor: string;
}

export interface ReadOptions {
  readonly pageSize: number;
  readonly signal: AbortSignal;
}

/** `at` is a folder on the way to the last one that was read; it is looked at in the very moment of the page. */
const query = `query($id:ID,$first:Int,$after:String,$at:ID){cursor folder(id:$id){${folderFields} descendants(first:$first,after:$after){items{${folderFields}}pageInfo{endCursor hasNextPage}}}at:folder(id:$at){id name accessLevel ancestors{id name accessLevel}}}`;

interface Answer {
  readonly cursor: string;
  readonly folder: (Answered<Folder> & { readonly descendants: Page<Answered<Folder>> }) | null;
  readonly at: (Named & { readonly ancestors: readonly Named[] }) | null;
}

type Named = Pick<Folder, 'id' | 'name' | 'accessLevel'>;

/** Undefined if the folder is not there; without an id, it is the root. */
export async function readTree(
  client: Pick<RunsDocuments, 'query'>,
  id: string | undefined,
  options: ReadOptions,
): Promise<ReadTree | undefined> {
  const page = halving(options.pageSize);
  const ask = (after: string | null, at: string | undefined) =>
    page((first) => client.query<Answer, object>(query, { id, first, after, at }, options));

  const { cursor, folder, at: top } = await ask(null, id);
  if (!folder) return undefined;
  const { descendants, ...itself } = folder;
  const tree = new LiveTree(folder.id);
  const above: Levelled[] = [...top!.ancestors];
  const torn = new Set<string>();
  const put = (folders: readonly Answered<Folder>[]) => folders.forEach((each) => tree.put(toFolder(each)));
  put([itself, ...descendants.items]);
  let { items, pageInfo } = descendants;
  while (pageInfo.hasNextPage) {
    const way = tree.way(items.at(-1)!.id);
    // The page goes on inside the last folder that is still at its place; what is left inside the next one is missed.
    for (let depth = way.length; ; depth--) {
      const answer = await ask(pageInfo.endCursor, way[depth - 1]?.id ?? tree.rootId);
      if (!answer.folder) return undefined;
      if (depth > 0 && !isAt(answer.at, tree.rootId, way.slice(0, depth))) continue;
      if (depth < way.length) torn.add(way[depth]!.id);
      const onTheWay = [...answer.at!.ancestors, answer.at!];
      above.push(...onTheWay.filter((each) => !tree.note(each)));
      ({ items, pageInfo } = answer.folder.descendants);
      put(items);
      break;
    }
  }
  for (const each of torn) {
    const part = await readTree(client, each, options);
    tree.take(each, part);
    above.push(...(part?.above ?? []));
  }
  return { cursor, tree, above };
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
