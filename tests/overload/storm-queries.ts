/** The most expensive queries that the default cost limits allow, and a tree for them. */

import { importBatch, type RunQuery } from '../large-tree/estate.ts';

interface FolderInput {
  readonly name: string;
  readonly title?: string;
  readonly folders: FolderInput[];
}

/** Nearly the maximum of 20,000 folders in one response. */
const wideFolderCount = 19_900;
const branchCount = 140;
const chainCount = 300;
const chainLength = 30;

/** Creates 58,000 folders: one with many children, one with many children that each have many, and many deep chains. */
export async function createStormTree(query: RunQuery): Promise<void> {
  await createSubtree(query, 'Wide', createFolders(wideFolderCount, 'Leaf'));
  await createSubtree(
    query,
    'Bushy',
    createFolders(branchCount, 'Branch').map((branch) => ({
      ...branch,
      folders: createFolders(branchCount, 'Twig'),
    })),
  );
  await createSubtree(
    query,
    'Deep',
    createFolders(chainCount, 'Chain').map((chain) => ({ ...chain, folders: chainOf(2 * chainLength) })),
  );
}

async function createSubtree(runQuery: RunQuery, name: string, tree: FolderInput[]): Promise<void> {
  const query = 'mutation($name: String!){createFolder(input: {name: $name}){folder{id}}}';
  const { createFolder } = await runQuery<{ createFolder: { folder: { id: string } } }>(query, { name });
  await importBatch(runQuery, createFolder.folder.id, tree);
}

function createFolders(count: number, name: string): FolderInput[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `${name} ${index}`,
    title: `The title of ${name} ${index}`,
    folders: [],
  }));
}

function chainOf(length: number): FolderInput[] {
  return length === 0 ? [] : [{ name: `Link ${length}`, folders: chainOf(length - 1) }];
}

export const stormQueries: Readonly<Record<string, string>> = {
  'wide, by aliases': `{folder(path: "/Wide"){folders{items{${aliases(18, 'title')}}}}}`,
  'wide, with cursors and paths': `{folder(path: "/Wide"){folders{edges{cursor node{id name ${aliases(13, 'path')}}}}}}`,
  'counts of many': '{folder(path: "/Wide"){folders{items{folders{totalCount} access{items{level}}}}}}',
  'descendants of many': '{folder(path: "/Wide"){folders{items{descendants{totalCount}}}}}',
  bushy: `{folder(path: "/Bushy"){${nested(2, 'id name title path createdAt updatedAt accessLevel depth')}}}`,
  deep: `{folder(path: "/Deep"){${nested(chainLength, 'id name path')}}}`,
  descendants: '{folder{descendants(first: 20000){edges{depth cursor node{id name path title createdAt}}}}}',
  filters: `{folder(path: "/Wide"){${repeatField(95, (number) => `folders(first: 1, filter: {nameContains: "${number}"}){totalCount}`)}}}`,
  searches: `{${repeatField(8, (number) => `search(text: "eaf ${number}", first: 2000){totalCount items{id name path title}}`)}}`,
};

function aliases(count: number, field: string): string {
  return repeatField(count, () => field);
}

function repeatField(count: number, field: (number: number) => string): string {
  return Array.from({ length: count }, (_, number) => `a${number}: ${field(number)}`).join(' ');
}

function nested(depth: number, fields: string): string {
  return depth === 0 ? fields : `folders{items{${fields} ${nested(depth - 1, fields)}}}`;
}
