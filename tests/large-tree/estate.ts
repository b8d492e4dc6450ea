/** Plants an estate over HTTP, and finds in it what the scenarios ask for. */

import {
  estateName,
  houseName,
  lettersName,
  placeNames,
  subtreeName,
  type EstateShape,
  type PlantedFolder,
} from './tree-shape.ts';

/** The data of an answer without errors; the administrator asks unless another token is given. */
export type Ask = <Data>(
  query: string,
  variables?: Record<string, unknown>,
  authToken?: string,
) => Promise<Data>;

export interface Estate {
  readonly id: string;
  readonly lettersId: string;
  /** Places in the middle of the letters, by each order. */
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
const mostCursors = 20;

interface ById {
  readonly folder: { readonly id: string };
}

export async function plantEstate(ask: Ask, { batches }: Pick<EstateShape, 'batches'>): Promise<string> {
  const created = await ask<{ createFolder: ById }>(
    'mutation($name: String!){createFolder(input: {name: $name}){folder{id}}}',
    { name: estateName },
  );
  const { id } = created.createFolder.folder;
  for (const batch of batches) await importBatch(ask, id, batch);
  return id;
}

export async function importBatch(ask: Ask, parentId: string, tree: PlantedFolder[]): Promise<number> {
  const query = 'mutation($input: ImportFoldersInput!){importFolders(input: $input){folderCount}}';
  const answer = await ask<{ importFolders: { folderCount: number } }>(query, { input: { parentId, tree } });
  return answer.importFolders.folderCount;
}

export async function findEstate(ask: Ask, id: string, { deepWays }: EstateShape): Promise<Estate> {
  const idOf = async (...names: string[]) =>
    (await ask<ById>('query($path: String!){folder(path: $path){id}}', { path: pathTo(names) })).folder.id;
  const lettersId = await idOf(estateName, lettersName);
  const cursors: Partial<Record<LetterOrder, string[]>> = {};
  for (const order of letterOrders) cursors[order] = await middleCursors(ask, lettersId, order);
  const deepIds: string[] = [];
  for (const way of deepWays) deepIds.push(await idOf(...way));
  return {
    id,
    lettersId,
    cursors: cursors as Estate['cursors'],
    houseId: await idOf(estateName, houseName),
    deepPaths: deepWays.map(pathTo),
    deepIds,
    subtreeId: await idOf(estateName, subtreeName),
    placeIds: await Promise.all(placeNames.map((name) => idOf(estateName, name))),
  };
}

function pathTo(names: readonly string[]): string {
  return `/${names.join('/')}`;
}

/** Cursors after which there is a whole page. */
async function middleCursors(ask: Ask, id: string, order: LetterOrder): Promise<string[]> {
  const { folder } = await ask<{ folder: { folders: { edges: { cursor: string }[] } } }>(
    'query($id: ID!, $order: FolderOrderField!){folder(id: $id){folders(orderBy: {field: $order}){edges{cursor}}}}',
    { id, order },
  );
  const { edges } = folder.folders;
  const last = edges.length - pageSize - 1;
  return Array.from(
    { length: mostCursors },
    (_, place) => edges[Math.floor((last * (place + 1)) / (mostCursors + 1))]!.cursor,
  );
}
