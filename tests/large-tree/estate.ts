/** Creates an estate (see `tree-shape.ts`) over HTTP and finds the folders that the scenarios need. */

import {
  estateName,
  houseName,
  lettersName,
  moveTargetNames,
  subtreeName,
  type EstateShape,
  type FolderInput,
} from './tree-shape.ts';

/** Returns the data of a response that must have no errors. Uses the administrator's token by default. */
export type RunQuery = <Data>(
  query: string,
  variables?: Record<string, unknown>,
  authToken?: string,
) => Promise<Data>;

export interface Estate {
  readonly id: string;
  readonly lettersId: string;
  /** Cursors in the middle of the letters, for each order. */
  readonly cursors: Readonly<Record<LetterOrder, readonly string[]>>;
  readonly houseId: string;
  readonly deepPaths: readonly string[];
  readonly deepIds: readonly string[];
  readonly subtreeId: string;
  readonly placeIds: readonly string[];
}

export const letterOrders = ['NAME', 'CREATED', 'UPDATED'] as const;
export type LetterOrder = (typeof letterOrders)[number];

const pageSize = 50;
const maxCursors = 20;

interface FolderResult {
  readonly folder: { readonly id: string };
}

export async function createEstate(
  query: RunQuery,
  { batches }: Pick<EstateShape, 'batches'>,
): Promise<string> {
  const created = await query<{ createFolder: FolderResult }>(
    'mutation($name: String!){createFolder(input: {name: $name}){folder{id}}}',
    { name: estateName },
  );
  const { id } = created.createFolder.folder;
  for (const batch of batches) await importBatch(query, id, batch);
  return id;
}

export async function importBatch(
  runQuery: RunQuery,
  parentId: string,
  tree: FolderInput[],
): Promise<number> {
  const query = 'mutation($input: ImportFoldersInput!){importFolders(input: $input){folderCount}}';
  const answer = await runQuery<{ importFolders: { folderCount: number } }>(query, {
    input: { parentId, tree },
  });
  return answer.importFolders.folderCount;
}

export async function findEstate(query: RunQuery, id: string, { deepPaths }: EstateShape): Promise<Estate> {
  const idOf = async (...names: string[]) =>
    (await query<FolderResult>('query($path: String!){folder(path: $path){id}}', { path: pathTo(names) }))
      .folder.id;
  const lettersId = await idOf(estateName, lettersName);
  const cursors: Partial<Record<LetterOrder, string[]>> = {};
  for (const order of letterOrders) cursors[order] = await middleCursors(query, lettersId, order);
  const deepIds: string[] = [];
  for (const path of deepPaths) deepIds.push(await idOf(...path));
  return {
    id,
    lettersId,
    cursors: cursors as Estate['cursors'],
    houseId: await idOf(estateName, houseName),
    deepPaths: deepPaths.map(pathTo),
    deepIds,
    subtreeId: await idOf(estateName, subtreeName),
    placeIds: await Promise.all(moveTargetNames.map((name) => idOf(estateName, name))),
  };
}

function pathTo(names: readonly string[]): string {
  return `/${names.join('/')}`;
}

/** Returns cursors that are followed by at least a full page. */
async function middleCursors(query: RunQuery, id: string, order: LetterOrder): Promise<string[]> {
  const { folder } = await query<{ folder: { folders: { edges: { cursor: string }[] } } }>(
    'query($id: ID!, $order: FolderOrderField!){folder(id: $id){folders(orderBy: {field: $order}){edges{cursor}}}}',
    { id, order },
  );
  const { edges } = folder.folders;
  const last = edges.length - pageSize - 1;
  return Array.from(
    { length: maxCursors },
    (_, index) => edges[Math.floor((last * (index + 1)) / (maxCursors + 1))]!.cursor,
  );
}
