/** The attacks of the abuse scenario: what one READ user, or a stranger, sends over and over. */

import type { Ask } from '../large-tree/estate.ts';

export interface HttpAttack {
  readonly transport: 'http';
  readonly path: '/graphql' | '/login';
  readonly connections: number;
  /** A stranger sends no token. */
  readonly isAnonymous?: boolean;
  /** The body of request `number`. */
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

/** Not in time with each other, so that it is read from the database. */
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

/** About as long as a text may be, and never the same twice. */
function newText(number: number, extra: string): string {
  const field = (place: number) => `folder(path: "/${number} ${place}"){id name title version ${extra}}`;
  return graph(`query Q${number}{${numbered(90, field)}}`);
}

/** Made once: how long the client takes to write it is not measured. */
function importOf(): (number: number) => string {
  let body: string | undefined;
  const make = () => {
    const list = Array.from({ length: importedPaths }, (_, place) => ({
      path: `Imported ${place % 100}/Folder ${place}`,
      title: `Title ${place}`,
    }));
    const query = 'mutation($input: ImportFoldersInput!){importFolders(input: $input){folderCount}}';
    return graph(query, { input: { list } });
  };
  return () => (body ??= make());
}

/** A folder with many children, and many folders in the trash that the attacker may not restore. */
export async function plantAbuseTree(ask: Ask): Promise<void> {
  const create = 'mutation($name: String!){createFolder(input: {name: $name}){folder{id}}}';
  const fill = 'mutation($input: ImportFoldersInput!){importFolders(input: $input){folderCount}}';
  const plant = async (name: string, count: number) => {
    const { createFolder } = await ask<{ createFolder: { folder: { id: string } } }>(create, { name });
    const tree = Array.from({ length: count }, (_, place) => ({
      name: `Leaf ${place}`,
      title: `The title of leaf ${place}`,
    }));
    await ask(fill, { input: { parentId: createFolder.folder.id, tree } });
    return createFolder.folder.id;
  };
  await plant('Wide', wide);
  const id = await plant('Old', trashed);
  const list = 'query($id: ID!){folder(id: $id){folders{items{id}}}}';
  const { folder } = await ask<{ folder: { folders: { items: { id: string }[] } } }>(list, { id });
  for (let start = 0; start < trashed; start += deletedPerRequest) {
    const ids = folder.folders.items.slice(start, start + deletedPerRequest);
    await ask(
      `mutation{${numbered(ids.length, (place) => `deleteFolder(input: {id: "${ids[place]!.id}"}){__typename}`)}}`,
    );
  }
}
