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
const wideFolderCount = 19_900;
const trashedFolderCount = 2_000;
const deletedPerRequest = 50;
const importedPaths = 50_000;

const graphBody = (query: string, variables?: object) => JSON.stringify({ query, variables });
const repeatQuery = (query: string): HttpAttack => {
  const body = graphBody(query);
  return { transport: 'http', path: '/graphql', connections, bodyOf: () => body };
};

/**
 * Ordinary queries for comparison. The connections send them at different times, so that each one reads the
 * database.
 */
export const ordinaryQueries = repeatQuery(
  '{folder(path: "/Wide"){id name folders(first: 50){items{id name title} pageInfo{hasNextPage}}}}',
);

export const attacks: Readonly<Record<string, Attack>> = {
  'aliased filters': repeatQuery(
    `{folder(path: "/Wide"){${repeatField(45, (number) => `folders(first: 1, filter: {nameContains: "x${number}"}){totalCount items{id}}`)}}}`,
  ),
  'aliased positions': repeatQuery(
    '{folder(path: "/Wide"){folders(first: 90, skip: 10000){items{id position}}}}',
  ),
  trash: repeatQuery(`{${repeatField(20, () => 'trash(first: 1){items{folderId}}')}}`),
  'new texts': {
    transport: 'http',
    path: '/graphql',
    connections,
    bodyOf: (number) => createDifferentQuery(number, ''),
  },
  'refused texts': {
    transport: 'http',
    path: '/graphql',
    connections,
    bodyOf: (number) => createDifferentQuery(number, 'noSuchField'),
  },
  import: { transport: 'http', path: '/graphql', connections, bodyOf: createImportBody() },
  descendants: repeatQuery(
    '{folder{descendants(first: 20000){edges{depth cursor node{id name path title createdAt}}}}}',
  ),
  'wide list': repeatQuery(`{folder(path: "/Wide"){folders{items{${repeatField(18, () => 'title')}}}}}`),
  'wide subscriptions': {
    transport: 'socket',
    sockets: 20,
    subscriptionsPerSocket: 100,
    query: 'subscription{folderChanges{kind folder{parent{folders(first: 500){items{id name title path}}}}}}',
  },
  'wrong changePassword': repeatQuery(
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

function repeatField(count: number, field: (number: number) => string): string {
  return Array.from({ length: count }, (_, number) => `a${number}: ${field(number)}`).join(' ');
}

/** Returns a different query for each number, with nearly the maximum length. */
function createDifferentQuery(number: number, extra: string): string {
  const field = (index: number) => `folder(path: "/${number} ${index}"){id name title version ${extra}}`;
  return graphBody(`query Q${number}{${repeatField(90, field)}}`);
}

/** Builds the body once, so that the measurement does not include the time to build it. */
function createImportBody(): (number: number) => string {
  let body: string | undefined;
  const make = () => {
    const list = Array.from({ length: importedPaths }, (_, index) => ({
      path: `Imported ${index % 100}/Folder ${index}`,
      title: `Title ${index}`,
    }));
    const query = 'mutation($input: ImportFoldersInput!){importFolders(input: $input){folderCount}}';
    return graphBody(query, { input: { list } });
  };
  return () => (body ??= make());
}

/**
 * Creates a folder with many children, and moves many folders to the trash. The attacker may not restore
 * them.
 */
export async function createAbuseTree(query: RunQuery): Promise<void> {
  const createMutation = 'mutation($name: String!){createFolder(input: {name: $name}){folder{id}}}';
  const importMutation = 'mutation($input: ImportFoldersInput!){importFolders(input: $input){folderCount}}';
  const createSubtree = async (name: string, count: number) => {
    const { createFolder } = await query<{ createFolder: { folder: { id: string } } }>(createMutation, {
      name,
    });
    const tree = Array.from({ length: count }, (_, index) => ({
      name: `Leaf ${index}`,
      title: `The title of leaf ${index}`,
    }));
    await query(importMutation, { input: { parentId: createFolder.folder.id, tree } });
    return createFolder.folder.id;
  };
  await createSubtree('Wide', wideFolderCount);
  const id = await createSubtree('Old', trashedFolderCount);
  const list = 'query($id: ID!){folder(id: $id){folders{items{id}}}}';
  const { folder } = await query<{ folder: { folders: { items: { id: string }[] } } }>(list, { id });
  for (let start = 0; start < trashedFolderCount; start += deletedPerRequest) {
    const ids = folder.folders.items.slice(start, start + deletedPerRequest);
    await query(
      `mutation{${repeatField(ids.length, (index) => `deleteFolder(input: {id: "${ids[index]!.id}"}){__typename}`)}}`,
    );
  }
}
