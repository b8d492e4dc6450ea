/** Requests to a small and to a large estate. Each request must cost the same on both. */

import { letterOrders, type RunQuery, type Estate, type LetterOrder } from './estate.ts';
import { composedWord, searchHits, rareWord } from './tree-shape.ts';

export interface Scenario {
  readonly name: string;
  readonly isChange: boolean;
  /** The reason why it may cost more on a larger tree. */
  readonly growsBecause?: string;
  /** `index` counts the requests to one estate, so that they use different folders. */
  readonly request: (runQuery: RunQuery, estate: Estate, index: number) => Promise<unknown>;
}

type Variables = Record<string, unknown>;

const orderNames: Record<LetterOrder, string> = { NAME: 'name', CREATED: 'creation', UPDATED: 'update' };
const page = 'items{id name title} pageInfo{hasNextPage endCursor}';

const childrenQuery = `query($id: ID!, $order: FolderOrderField!, $after: String!){
  folder(id: $id){folders(first: 50, after: $after, orderBy: {field: $order}){${page}}}}`;
const searchQuery = `query($text: String!, $under: ID){search(text: $text, under: $under, first: 50){${page} totalCount}}`;

export const scenarios: readonly Scenario[] = [
  ...letterOrders.map((order) =>
    query(`a page of 50 children by ${orderNames[order]}`, childrenQuery, (estate, index) => ({
      id: estate.lettersId,
      order,
      after: pickAt(estate.cursors[order], index),
    })),
  ),
  query(
    'the number of children',
    'query($id: ID!){folder(id: $id){folders{totalCount}}}',
    ({ lettersId }) => ({
      id: lettersId,
    }),
  ),
  query('a folder by its id', 'query($id: ID!){folder(id: $id){id name title}}', ({ deepIds }, index) => ({
    id: pickAt(deepIds, index),
  })),
  query(
    'a folder by a path of 8 names',
    'query($path: String!){folder(path: $path){id name title}}',
    ({ deepPaths }, index) => ({ path: pickAt(deepPaths, index) }),
  ),
  query(
    'the 8 ancestors of a folder',
    'query($id: ID!){folder(id: $id){ancestors{id name title}}}',
    ({ deepIds }, index) => ({ id: pickAt(deepIds, index) }),
  ),
  query(
    'a page of 50 descendants',
    `query($id: ID!){folder(id: $id){descendants(first: 50){${page}}}}`,
    ({ houseId }) => ({ id: houseId }),
  ),
  query(`a search page of ${searchHits} hits with a rare word`, searchQuery, () => ({ text: rareWord })),
  {
    ...query(`a search page of ${searchHits} hits with a word of common parts`, searchQuery, () => ({
      text: composedWord,
    })),
    growsBecause: 'each of the letter groups in the word is frequent in a large tree',
  },
  query(`a search page of ${searchHits} hits inside a folder`, searchQuery, ({ id }) => ({
    text: rareWord,
    under: id,
  })),
  query(`a search page of ${searchHits} hits with 2 characters`, searchQuery, () => ({
    text: rareWord.slice(0, 2),
  })),
  mutation('moveFolder() with a tenth of the tree', async (run, { subtreeId, placeIds }, index) =>
    run('moveFolder', { id: subtreeId, parentId: pickAt(placeIds, index) }, 'folder{id path}'),
  ),
  mutation('createFolder()', async (run, { placeIds }, index) =>
    run('createFolder', { parentId: placeIds[0], name: `New folder ${index}` }, 'folder{id}'),
  ),
  {
    ...mutation('updateFolder() with a new title', async (run, { deepIds }, index) =>
      run('updateFolder', { id: pickAt(deepIds, index), title: `Title ${index}` }, 'folder{id}'),
    ),
    growsBecause:
      'each change of a text also merges a part of the search index that the import did not merge',
  },
  mutation('deleteFolder(), then restoreFolder()', async (run, { deepIds }, index) => {
    const id = pickAt(deepIds, index);
    return [await run('deleteFolder', { id }, 'folderId'), await run('restoreFolder', { id }, 'folder{id}')];
  }),
];

function query(
  name: string,
  text: string,
  variablesOf: (estate: Estate, index: number) => Variables,
): Scenario {
  return {
    name,
    isChange: false,
    request: (runQuery, estate, index) => runQuery(text, variablesOf(estate, index)),
  };
}

type Run = (name: string, input: Variables, selection: string) => Promise<unknown>;

function mutation(
  name: string,
  request: (run: Run, estate: Estate, index: number) => Promise<unknown>,
): Scenario {
  return {
    name,
    isChange: true,
    request: (runQuery, estate, index) =>
      request(
        (field, input, selection) => runQuery(mutationText(field, selection), { input }),
        estate,
        index,
      ),
  };
}

function mutationText(field: string, selection: string): string {
  const type = `${field[0]!.toUpperCase()}${field.slice(1)}Input`;
  return `mutation($input: ${type}!){${field}(input: $input){${selection}}}`;
}

function pickAt<T>(all: readonly T[], index: number): T {
  return all[index % all.length]!;
}
