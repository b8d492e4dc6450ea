/**
 * The attacks of the abuse study: requests that one user with READ access, or an anonymous client, repeats.
 */

import type { RunQuery } from '../large-tree/estate.ts';

export interface HttpAttack {
  readonly transport: 'http';
  readonly path: '/graphql' | '/login';
  readonly connections: number;
  /** Sends no token. */
  readonly isAnonymous?: boolean;
  /** Returns the body of request `number`. */
  readonly bodyOf: (number: number) => string;
}

export interface SocketAttack {
  readonly transport: 'socket';
  readonly sockets: number;
  readonly subscriptionsPerSocket: number;
  readonly query: string;
}

export type Attack = HttpAttack | SocketAttack;

const connections = 16;
const wide = 19_900;
const trashed = 2_000;
const deletedPerRequest = 50;
const importedPaths = 50_000;

const graph = (query: string, variables?: object) => JSON.stringify({ query, variables });
const sameQuery = (query: string): HttpAttack => {
  const body = graph(query);
  return { transport: 'http', path: '/graphql', connections, bodyOf: () => body };
};

/**
 * Ordinary queries for comparison. The connections send them at different times, so that each one reads the
 * database.
 */
export const ordinary = sameQuery(
  '{folder(path: "/Wide"){id name folders(first: 50){items{id name title} pageInfo{hasNextPage}}}}',
);

export const attacks: Readonly<Record<string, Attack>> = {
  'aliased filters': sameQuery(
    `{folder(path: "/Wide"){${numbered(45, (number) => `folders(first: 1, filter: {nameContains: "x${number}"}){totalCount items{id}}`)}}}`,
  ),
  'aliased positions': sameQuery(
    '{folder(path: "/Wide"){folders(first: 90, skip: 10000){items{id position}}}}',
  ),
  trash: sameQuery(`{${numbered(20, () => 'trash(first: 1){items{folderId}}')}}`),
  'new texts': { transport: 'http', path: '/graphql', connections, bodyOf: (number) => newText(number, '') },
  'refused texts': {
    transport: 'http',
    path: '/graphql',
    connections,
    bodyOf: (number) => newText(number, 'noSuchField'),
  },
  import: { transport: 'http', path: '/graphql', connections, bodyOf: importOf() },
  descendants: sameQuery(
    '{folder{descendants(first: 20000){edges{depth cursor node{id name path title createdAt}}}}}',
  ),
  'wide list': sameQuery(`{folder(path: "/Wide"){folders{items{${numbered(18, () => 'title')}}}}}`),
  'wide subscriptions': {
    transport: 'socket',
    sockets: 20,
    subscriptionsPerSocket: 100,
    query: 'subscription{folderChanges{kind folder{parent{folders(first: 500){items{id name title path}}}}}}',
  },
  'wrong changePassword': sameQuery(
    'mutation{changePassword(input: {currentPassword: "wrong horse battery", newPassword: "another horse battery"}){__typename}}',
  ),
  'wrong logins': {
    transport: 'http',
    path: '/login',
    connections: 64,
    isAnonymous: true,
    bodyOf: (number) => JSON.stringify({ username: `stranger ${number}`, password: 'wrong horse battery' }),
  },
};

function numbered(count: number, field: (number: number) => string): string {
  return Array.from({ length: count }, (_, number) => `a${number}: ${field(number)}`).join(' ');
}

/** Returns a different query for each number, with nearly the maximum length. */
function newText(number: number, extra: string): string {
  const field = (index: number) => `folder(path: "/${number} ${index}"){id name title version ${extra}}`;
  return graph(`query Q${number}{${numbered(90, field)}}`);
}

/** Builds the body once, so that the measurement does not include the time to build it. */
function importOf(): (number: number) => string {
  let body: string | undefined;
  const make = () => {
    const list = Array.from({ length: importedPaths }, (_, index) => ({
      path: `Imported ${index % 100}/Folder ${index}`,
      title: `Title ${index}`,
    }));
    const query = 'mutation($input: ImportFoldersInput!){importFolders(input: $input){folderCount}}';
    return graph(query, { input: { list } });
  };
  return () => (body ??= make());
}

/**
 * Creates a folder with many children, and moves many folders to the trash. The attacker may not restore
 * them.
 */
export async function createAbuseTree(query: RunQuery): Promise<void> {
  const create = 'mutation($name: String!){createFolder(input: {name: $name}){folder{id}}}';
  const fill = 'mutation($input: ImportFoldersInput!){importFolders(input: $input){folderCount}}';
  const createSubtree = async (name: string, count: number) => {
    const { createFolder } = await query<{ createFolder: { folder: { id: string } } }>(create, { name });
    const tree = Array.from({ length: count }, (_, index) => ({
      name: `Leaf ${index}`,
      title: `The title of leaf ${index}`,
    }));
    await query(fill, { input: { parentId: createFolder.folder.id, tree } });
    return createFolder.folder.id;
  };
  await createSubtree('Wide', wide);
  const id = await createSubtree('Old', trashed);
  const list = 'query($id: ID!){folder(id: $id){folders{items{id}}}}';
  const { folder } = await query<{ folder: { folders: { items: { id: string }[] } } }>(list, { id });
  for (let start = 0; start < trashed; start += deletedPerRequest) {
    const ids = folder.folders.items.slice(start, start + deletedPerRequest);
    await query(
      `mutation{${numbered(ids.length, (index) => `deleteFolder(input: {id: "${ids[index]!.id}"}){__typename}`)}}`,
    );
  }
}
