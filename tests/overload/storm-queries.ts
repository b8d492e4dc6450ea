/** The most expensive queries that the default price limits let through, and the tree for which they are. */

import type { Ask } from '../large-tree/estate.ts';
import { importBatch } from '../large-tree/estate.ts';

interface Planted {
  readonly name: string;
  readonly title?: string;
  readonly folders: Planted[];
}

/** Of the 20,000 folders that an answer may hold. */
const wide = 19_900;
const branches = 140;
const chains = 300;
const levels = 30;

/** 58,000 folders: one with many in it, one with many in each of many, and many with one in one in one. */
export async function plantStormTree(ask: Ask): Promise<void> {
  await plant(ask, 'Wide', many(wide, 'Leaf'));
  await plant(
    ask,
    'Bushy',
    many(branches, 'Branch').map((branch) => ({ ...branch, folders: many(branches, 'Twig') })),
  );
  await plant(
    ask,
    'Deep',
    many(chains, 'Chain').map((chain) => ({ ...chain, folders: chainOf(2 * levels) })),
  );
}

async function plant(ask: Ask, name: string, tree: Planted[]): Promise<void> {
  const query = 'mutation($name: String!){createFolder(input: {name: $name}){folder{id}}}';
  const { createFolder } = await ask<{ createFolder: { folder: { id: string } } }>(query, { name });
  await importBatch(ask, createFolder.folder.id, tree);
}

function many(count: number, name: string): Planted[] {
  return Array.from({ length: count }, (_, place) => ({
    name: `${name} ${place}`,
    title: `The title of ${name} ${place}`,
    folders: [],
  }));
}

function chainOf(length: number): Planted[] {
  return length === 0 ? [] : [{ name: `Link ${length}`, folders: chainOf(length - 1) }];
}

export const stormQueries: Readonly<Record<string, string>> = {
  'wide, by aliases': `{folder(path: "/Wide"){folders{items{${aliases(18, 'title')}}}}}`,
  'wide, with cursors and paths': `{folder(path: "/Wide"){folders{edges{cursor node{id name ${aliases(13, 'path')}}}}}}`,
  'counts of many': '{folder(path: "/Wide"){folders{items{folders{totalCount} access{items{level}}}}}}',
  'descendants of many': '{folder(path: "/Wide"){folders{items{descendants{totalCount}}}}}',
  bushy: `{folder(path: "/Bushy"){${nested(2, 'id name title path createdAt updatedAt accessLevel depth')}}}`,
  deep: `{folder(path: "/Deep"){${nested(levels, 'id name path')}}}`,
  descendants: '{folder{descendants(first: 20000){edges{depth cursor node{id name path title createdAt}}}}}',
  filters: `{folder(path: "/Wide"){${numbered(95, (number) => `folders(first: 1, filter: {nameContains: "${number}"}){totalCount}`)}}}`,
  searches: `{${numbered(8, (number) => `search(text: "eaf ${number}", first: 2000){totalCount items{id name path title}}`)}}`,
};

function aliases(count: number, field: string): string {
  return numbered(count, () => field);
}

function numbered(count: number, field: (number: number) => string): string {
  return Array.from({ length: count }, (_, number) => `a${number}: ${field(number)}`).join(' ');
}

function nested(depth: number, fields: string): string {
  return depth === 0 ? fields : `folders{items{${fields} ${nested(depth - 1, fields)}}}`;
}
