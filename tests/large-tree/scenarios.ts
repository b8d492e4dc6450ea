/** What is asked of a small and of a large estate alike: the same request costs the same work on both. */

import { letterOrders, type Ask, type Estate, type LetterOrder } from './estate.ts';
import { composedWord, plantedTimes, rareWord } from './tree-shape.ts';

export interface Scenario {
  readonly name: string;
  readonly isChange: boolean;
  /** Why it may cost more on a larger tree, if it may. */
  readonly growsBecause?: string;
  /** `place` counts the requests to one estate, so that they go to different folders. */
  readonly request: (ask: Ask, estate: Estate, place: number) => Promise<unknown>;
}

type Variables = Record<string, unknown>;

const orderNames: Record<LetterOrder, string> = { NAME: 'name', CREATED: 'creation', UPDATED: 'update' };
const page = 'items{id name title} pageInfo{hasNextPage endCursor}';

const childrenQuery = `query($id: ID!, $order: FolderOrderField!, $after: String!){
  folder(id: $id){folders(first: 50, after: $after, orderBy: {field: $order}){${page}}}}`;
const searchQuery = `query($text: String!, $under: ID){search(text: $text, under: $under, first: 50){${page} totalCount}}`;

export const scenarios: readonly Scenario[] = [
  ...letterOrders.map((order) =>
    query(`a page of 50 children by ${orderNames[order]}`, childrenQuery, (estate, place) => ({
      id: estate.lettersId,
      order,
      after: at(estate.cursors[order], place),
    })),
  ),
  query('how many children', 'query($id: ID!){folder(id: $id){folders{totalCount}}}', ({ lettersId }) => ({
    id: lettersId,
  })),
  query('a folder by its id', 'query($id: ID!){folder(id: $id){id name title}}', ({ deepIds }, place) => ({
    id: at(deepIds, place),
  })),
  query(
    'a folder by its path, 8 names',
    'query($path: String!){folder(path: $path){id name title}}',
    ({ deepPaths }, place) => ({ path: at(deepPaths, place) }),
  ),
  query(
    'its 8 ancestors',
    'query($id: ID!){folder(id: $id){ancestors{id name title}}}',
    ({ deepIds }, place) => ({ id: at(deepIds, place) }),
  ),
  query(
    'a page of 50 descendants',
    `query($id: ID!){folder(id: $id){descendants(first: 50){${page}}}}`,
    ({ houseId }) => ({ id: houseId }),
  ),
  query(`a search page of ${plantedTimes} hits, a rare word`, searchQuery, () => ({ text: rareWord })),
  {
    ...query(`a search page of ${plantedTimes} hits, of common parts`, searchQuery, () => ({
      text: composedWord,
    })),
    growsBecause: 'the index is asked for letter groups of which each is frequent in a large tree',
  },
  query(`a search page of ${plantedTimes} hits, under a folder`, searchQuery, ({ id }) => ({
    text: rareWord,
    under: id,
  })),
  query(`a search page of ${plantedTimes} hits, 2 characters`, searchQuery, () => ({
    text: rareWord.slice(0, 2),
  })),
  mutation('moveFolder, a tenth of the tree', async (run, { subtreeId, placeIds }, place) =>
    run('moveFolder', { id: subtreeId, parentId: at(placeIds, place) }, 'folder{id path}'),
  ),
  mutation('createFolder', async (run, { placeIds }, place) =>
    run('createFolder', { parentId: placeIds[0], name: `New folder ${place}` }, 'folder{id}'),
  ),
  {
    ...mutation('updateFolder, its title', async (run, { deepIds }, place) =>
      run('updateFolder', { id: at(deepIds, place), title: `Title ${place}` }, 'folder{id}'),
    ),
    growsBecause: 'each change of a text merges a part of the search index that the import left to be merged',
  },
  mutation('deleteFolder, then restoreFolder', async (run, { deepIds }, place) => {
    const id = at(deepIds, place);
    return [await run('deleteFolder', { id }, 'folderId'), await run('restoreFolder', { id }, 'folder{id}')];
  }),
];

function query(
  name: string,
  text: string,
  variablesOf: (estate: Estate, place: number) => Variables,
): Scenario {
  return {
    name,
    isChange: false,
    request: (ask, estate, place) => ask(text, variablesOf(estate, place)),
  };
}

type Run = (name: string, input: Variables, selection: string) => Promise<unknown>;

function mutation(
  name: string,
  request: (run: Run, estate: Estate, place: number) => Promise<unknown>,
): Scenario {
  return {
    name,
    isChange: true,
    request: (ask, estate, place) =>
      request((field, input, selection) => ask(mutationText(field, selection), { input }), estate, place),
  };
}

function mutationText(field: string, selection: string): string {
  const type = `${field[0]!.toUpperCase()}${field.slice(1)}Input`;
  return `mutation($input: ${type}!){${field}(input: $input){${selection}}}`;
}

function at<T>(all: readonly T[], place: number): T {
  return all[place % all.length]!;
}
