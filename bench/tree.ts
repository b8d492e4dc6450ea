/**
 * The tree of folders that the scenarios read and change. It is imported over HTTP, so it does not depend on the
 * database schema.
 */

import type { FolderToImport } from '@espalier/client';
import type { Credentials } from '../tests/support/api-client.ts';

/** Runs a query as the administrator. */
export type RunQuery = <Data>(query: string, variables?: Record<string, unknown>) => Promise<Data>;

/** Ids in the tree. Everything that a scenario reads, except the root's name, is below the campus. */
export interface Tree {
  readonly placesId: string;
  /** Two levels below the root. The user with one grant has the grant on this folder. */
  readonly campusId: string;
  /** Ten folders with ten folders each. */
  readonly atriumId: string;
  /** 400 folders, which clients read in pages. */
  readonly lettersId: string;
  /** 50 folders, each with two folders. */
  readonly roomsId: string;
  /** Six levels below the root. */
  readonly deepId: string;
  /** A folder without subfolders for new folders. */
  readonly inboxId: string;
}

/** Exactly 30 folders have this text in their title, in a tree of any size. */
export const rareText = 'Observatory';
/**
 * 31 folders have this text in their title. Each of its trigrams occurs in the names or titles of many other folders.
 */
export const commonText = 'authority of the rack';
export const roomsPath = '/Places/Harbour Campus/Rooms';
export const minFolders = 1_000;
export const grantedUser: Credentials = { username: 'reader', password: 'walnut cabin orchard' };

const maxImportFolders = 25_000;

export async function createTree(
  runQuery: RunQuery,
  folders: number,
  note: (text: string) => void,
): Promise<Tree> {
  const start = performance.now();
  const placesId = await createFolder(runQuery, 'Places');
  const campusId = await createFolder(runQuery, 'Harbour Campus', placesId);
  const fixedFolders = createFixedFolders();
  await importFolders(runQuery, campusId, fixedFolders);
  let remainingFolders = folders - 3 - countFolders(fixedFolders);
  for (let store = 1; remainingFolders > 0;) {
    const batch: FolderToImport[] = [];
    for (let batchSpace = Math.min(remainingFolders, maxImportFolders); batchSpace > 0; store++) {
      const newStore = createStore(store, batchSpace);
      batch.push(newStore);
      batchSpace -= countFolders([newStore]);
      remainingFolders -= countFolders([newStore]);
    }
    await importFolders(runQuery, campusId, batch);
  }
  await createGrantedUser(runQuery, campusId);
  const seconds = ((performance.now() - start) / 1000).toFixed(0);
  note(`imported ${folders.toLocaleString('en')} folders in ${seconds} s`);
  const idOf = async (path: string) =>
    (await runQuery<{ folder: { id: string } }>('query($path: String){folder(path: $path){id}}', { path }))
      .folder.id;
  return {
    placesId,
    campusId,
    atriumId: await idOf('/Places/Harbour Campus/Atrium'),
    lettersId: await idOf('/Places/Harbour Campus/Letters'),
    roomsId: await idOf(roomsPath),
    deepId: await idOf('/Places/Harbour Campus/Store 1/Aisle 1/Rack 1/Box 1'),
    inboxId: await idOf('/Places/Harbour Campus/Inbox'),
  };
}

/**
 * These folders are the same in every tree, so a tree of a thousand folders and one of a million have the same
 * responses.
 */
function createFixedFolders(): FolderToImport[] {
  return [
    createFolderInput('Atrium', 1, (index) =>
      createFolderInput(`Wing ${index}`, index, (desk) => createFolderInput(`Desk ${desk}`, desk)),
    ),
    { name: 'Inbox' },
    {
      ...createFolderInput('Letters', 2),
      folders: repeat(400, (index) => ({
        ...createFolderInput(`Letter ${index}`, index),
        title: formatTitle(index),
      })),
    },
    {
      ...createFolderInput('Rooms', 3),
      folders: repeat(50, (index) => ({
        ...createFolderInput(`Room ${index}`, index),
        folders: [{ name: 'Key' }, { name: 'Window' }],
      })),
    },
  ];
}

function formatTitle(letter: number): string {
  if (letter % 13 === 0) return `${rareText} report ${letter}`;
  return letter % 13 === 1 ? `To the authority of the racks, no. ${letter}` : `To the tenants, no. ${letter}`;
}

/** Creates a store of at most `limit` folders: the store itself, aisles, racks and boxes. */
function createStore(index: number, limit: number): FolderToImport {
  let remaining = limit - 1;
  const createTen = (make: (index: number) => FolderToImport) =>
    repeat(10, (index) => (remaining-- > 0 ? [make(index)] : [])).flat();
  return {
    ...createFolderInput(`Store ${index}`, index),
    folders: createTen((aisle) => ({
      name: `Aisle ${aisle}`,
      folders: createTen((rack) => ({
        ...createFolderInput(`Rack ${rack}`, rack),
        folders: createTen((box) => createFolderInput(`Box ${box}`, box)),
      })),
    })),
  };
}

function createFolderInput(
  name: string,
  index: number,
  child?: (index: number) => FolderToImport,
): FolderToImport {
  return {
    name,
    title: `${name} of the harbour authority`,
    ...(index % 2 === 0 && {
      icon: 'box',
      description: `Contents of ${name}, as recorded at the last inventory.`,
    }),
    ...(index % 5 === 0 && { properties: { inventoryNumber: `H-${index}`, isLocked: true } }),
    ...(child && { folders: repeat(10, child) }),
  };
}

async function createFolder(runQuery: RunQuery, name: string, parentId?: string): Promise<string> {
  type Data = { createFolder: { folder: { id: string } } };
  const query = 'mutation($input: CreateFolderInput!){createFolder(input: $input){folder{id}}}';
  return (await runQuery<Data>(query, { input: { name, parentId } })).createFolder.folder.id;
}

async function importFolders(
  runQuery: RunQuery,
  parentId: string,
  tree: readonly FolderToImport[],
): Promise<void> {
  const query = 'mutation($input: ImportFoldersInput!){importFolders(input: $input){folderCount}}';
  await runQuery(query, { input: { parentId, tree } });
}

async function createGrantedUser(runQuery: RunQuery, folderId: string): Promise<void> {
  const { createUser } = await runQuery<{ createUser: { user: { id: string } } }>(
    'mutation($input: CreateUserInput!){createUser(input: $input){user{id}}}',
    { input: grantedUser },
  );
  await runQuery('mutation($input: GrantAccessInput!){grantAccess(input: $input){folder{id}}}', {
    input: { folderId, userId: createUser.user.id, level: 'READ' },
  });
}

export function repeat<T>(count: number, make: (index: number) => T): T[] {
  return Array.from({ length: count }, (_, index) => make(index + 1));
}

function countFolders(folders: readonly FolderToImport[]): number {
  return folders.reduce((sum, folder) => sum + 1 + countFolders(folder.folders ?? []), 0);
}
