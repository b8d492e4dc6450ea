/**
 * Reads a folder and its descendants page by page. A folder that moves between two pages can hide others from the list; the
 * part that this affects is read again. All other concurrent changes are in the change feed after the cursor. Each page also
 * reads the access levels of its ancestors, so that a level that changed between two pages is detected later.
 */

import type { DocumentRunner } from './calls.ts';
import { folderFields, toFolder, type Folder, type FolderResult } from './folder.ts';
import { TreeCopy, type FolderLevel, type SubtreeSnapshot } from './tree-copy.ts';
import { adaptivePageSize, type Page } from './pages.ts';

export interface TreeSnapshot extends SubtreeSnapshot {
  /** The position in the change feed before the first page. */
  readonly cursor: string;
}

export interface ReadOptions {
  readonly pageSize: number;
  readonly signal: AbortSignal;
}

/** `at` is an ancestor of the last folder of the previous page. It is read in the same request as the page. */
const query = `query($id:ID,$first:Int,$after:String,$at:ID){cursor folder(id:$id){${folderFields} descendants(first:$first,after:$after){items{${folderFields}}pageInfo{endCursor hasNextPage}}}at:folder(id:$at){id name accessLevel ancestors{id name accessLevel}}}`;

interface PageResult {
  readonly cursor: string;
  readonly folder: (FolderResult<Folder> & { readonly descendants: Page<FolderResult<Folder>> }) | null;
  readonly at: (PathFolder & { readonly ancestors: readonly PathFolder[] }) | null;
}

type PathFolder = Pick<Folder, 'id' | 'name' | 'accessLevel'>;

/** Reads a folder, or the root without an id. Returns undefined if the folder does not exist. */
export async function readTree(
  client: Pick<DocumentRunner, 'query'>,
  id: string | undefined,
  options: ReadOptions,
): Promise<TreeSnapshot | undefined> {
  const withPageSize = adaptivePageSize(options.pageSize);
  const readPage = (after: string | null, at: string | undefined) =>
    withPageSize((first) => client.query<PageResult, object>(query, { id, first, after, at }, options));

  const { cursor, folder, at: top } = await readPage(null, id);
  if (!folder) return undefined;
  const { descendants, ...root } = folder;
  const tree = new TreeCopy(folder.id);
  const ancestors: FolderLevel[] = [...top!.ancestors];
  const movedIds = new Set<string>();
  const put = (folders: readonly FolderResult<Folder>[]) => {
    for (const result of folders) tree.put(toFolder(result));
  };
  put([root, ...descendants.items]);
  let { items, pageInfo } = descendants;
  while (pageInfo.hasNextPage) {
    const path = tree.foldersTo(items.at(-1)!.id);
    // The list continues in the deepest ancestor that has not moved. The rest of the next deeper one is missed.
    for (let depth = path.length; ; depth--) {
      const page = await readPage(pageInfo.endCursor, path[depth - 1]?.id ?? tree.rootId);
      if (!page.folder) return undefined;
      if (depth > 0 && !isUnmoved(page.at, tree.rootId, path.slice(0, depth))) continue;
      if (depth < path.length) movedIds.add(path[depth]!.id);
      const pageAncestors = [...page.at!.ancestors, page.at!];
      ancestors.push(...pageAncestors.filter((ancestor) => !tree.recordLevel(ancestor)));
      ({ items, pageInfo } = page.folder.descendants);
      put(items);
      break;
    }
  }
  for (const movedId of movedIds) {
    const part = await readTree(client, movedId, options);
    tree.replaceSubtree(movedId, part);
    ancestors.push(...(part?.ancestors ?? []));
  }
  return { cursor, tree, ancestors };
}

/** Compares the ids and names of a folder's path below the root: a list's cursor consists of these. */
function isUnmoved(at: PageResult['at'], rootId: string, path: readonly PathFolder[]): boolean {
  if (!at) return false;
  const rootIndex = at.ancestors.findIndex(({ id }) => id === rootId);
  const current = [...at.ancestors.slice(rootIndex + 1), at];
  return (
    rootIndex >= 0 &&
    current.length === path.length &&
    current.every(({ id, name }, depth) => id === path[depth]!.id && name === path[depth]!.name)
  );
}
