/**
 * Reads a folder and its descendants page by page. If a folder moves between two pages, the list can miss other folders, so the
 * subtree of the moved folder is read again. All other concurrent changes are in the change feed after the cursor. Each request
 * also reads the access levels of the ancestors. The tree marks a folder if its level changed between two pages (`recordLevel`).
 */

import type { DocumentRunner } from '../calls.ts';
import { folderFields, toFolder, type Folder, type FolderResult } from '../folder.ts';
import { TreeCopy, type FolderLevel, type SubtreeSnapshot } from './tree-copy.ts';
import { adaptivePageSize, type Page } from '../pages.ts';

export interface TreeSnapshot extends SubtreeSnapshot {
  /** The position in the change feed before the first page. */
  readonly cursor: string;
}

export interface ReadOptions {
  readonly pageSize: number;
  readonly signal: AbortSignal;
}

/** `lastParent` is the last folder of the previous page or one of its ancestors. It is read in the same request as the page. */
const query = `query($id:ID,$first:Int,$after:String,$lastParent:ID){cursor folder(id:$id){${folderFields} descendants(first:$first,after:$after){items{${folderFields}}pageInfo{endCursor hasNextPage}}}lastParent:folder(id:$lastParent){id name accessLevel ancestors{id name accessLevel}}}`;

interface PageResult {
  readonly cursor: string;
  readonly folder: (FolderResult<Folder> & { readonly descendants: Page<FolderResult<Folder>> }) | null;
  readonly lastParent: (PathFolder & { readonly ancestors: readonly PathFolder[] }) | null;
}

type PathFolder = Pick<Folder, 'id' | 'name' | 'accessLevel'>;
type ReadPage = (after: string | null, lastParentId: string | undefined) => Promise<PageResult>;

/** Reads a folder, or the root without an id. Returns undefined if the folder does not exist. */
export async function readTree(
  client: Pick<DocumentRunner, 'query'>,
  id: string | undefined,
  options: ReadOptions,
): Promise<TreeSnapshot | undefined> {
  const withPageSize = adaptivePageSize(options.pageSize);
  const readPage: ReadPage = (after, lastParent) =>
    withPageSize((first) =>
      client.query<PageResult, object>(query, { id, first, after, lastParent }, options),
    );

  const { cursor, folder, lastParent: top } = await readPage(null, id);
  if (!folder) return undefined;
  const { descendants, ...root } = folder;
  const tree = new TreeCopy(folder.id);
  const ancestors: FolderLevel[] = [...top!.ancestors];
  const movedIds = new Set<string>();
  for (const result of [root, ...descendants.items]) tree.put(toFolder(result));
  let { items, pageInfo } = descendants;
  while (pageInfo.hasNextPage) {
    const path = tree.foldersTo(items.at(-1)!.id);
    const next = await readNextPage(readPage, pageInfo.endCursor, path, tree.rootId);
    if (!next) return undefined;
    if (next.movedId !== undefined) movedIds.add(next.movedId);
    for (const ancestor of next.ancestors) {
      if (!tree.recordLevel(ancestor)) ancestors.push(ancestor);
    }
    ({ items, pageInfo } = next);
    for (const result of items) tree.put(toFolder(result));
  }
  for (const movedId of movedIds) {
    const part = await readTree(client, movedId, options);
    tree.replaceSubtree(movedId, part);
    ancestors.push(...(part?.ancestors ?? []));
  }
  return { cursor, tree, ancestors };
}

interface NextPage extends Page<FolderResult<Folder>> {
  readonly ancestors: readonly PathFolder[];
  /** The topmost folder on the path that has moved. The page skips the rest of its subtree. */
  readonly movedId: string | undefined;
}

/**
 * Reads the page after the folder with this path. The list continues in the deepest folder on the path that has not moved. Returns
 * undefined if the folder at the top no longer exists.
 */
async function readNextPage(
  readPage: ReadPage,
  after: string | null,
  path: readonly PathFolder[],
  rootId: string,
): Promise<NextPage | undefined> {
  let depth = path.length;
  let page = await readPage(after, path.at(-1)?.id ?? rootId);
  while (page.folder && depth > 0 && !isUnmoved(page.lastParent, rootId, path.slice(0, depth))) {
    depth--;
    page = await readPage(after, path[depth - 1]?.id ?? rootId);
  }
  const { folder, lastParent } = page;
  if (!folder) return undefined;
  return {
    ...folder.descendants,
    ancestors: [...lastParent!.ancestors, lastParent!],
    movedId: path[depth]?.id,
  };
}

/** Compares the ids and names of a folder's path below the root: a list's cursor consists of these. */
function isUnmoved(folder: PageResult['lastParent'], rootId: string, path: readonly PathFolder[]): boolean {
  if (!folder) return false;
  const rootIndex = folder.ancestors.findIndex(({ id }) => id === rootId);
  const current = [...folder.ancestors.slice(rootIndex + 1), folder];
  return (
    rootIndex >= 0 &&
    current.length === path.length &&
    current.every(({ id, name }, depth) => id === path[depth]!.id && name === path[depth]!.name)
  );
}
