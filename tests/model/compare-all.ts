/**
 * Compares everything that each user can see with the model: the tree, all ids that ever existed, search and
 * trash.
 */

import {
  folderSelection,
  search,
  expectedFolder,
  expectedTrash,
  trashSelection,
} from './expected-responses.ts';
import { listTrash } from './model-changes.ts';
import type { ModelFolder, ModelUser, TreeModel } from './tree-model.ts';
import type { World } from './world.ts';

/** A query may select 500 fields, and each id needs four. */
const idsPerQuery = 100;
const searchTexts = ['a', 'floor', 'zebra', 'Étage'];

const allLists = `
  {folder{...Shown descendants{totalCount edges{depth node{...Shown}}}}
  ${searchTexts.map((text, index) => `s${index}: search(text: "${text}", first: 1000){totalCount items{id}}`).join(' ')}
  trash(first: 1000){items{${trashSelection}} pageInfo{hasNextPage}}}
  fragment Shown on Folder{${folderSelection}}`;

export async function compareEverything(world: World): Promise<void> {
  for (const user of world.viewers) {
    await compareLists(world, user);
    await compareIds(world, user, world.model.allFolders);
  }
}

/**
 * Compares everything except most ids, because there are many. Each call compares up to a hundred ids, for
 * one user in turn.
 */
export async function comparePart(world: World, round: number): Promise<void> {
  const { allFolders } = world.model;
  const { viewers } = world;
  for (const user of viewers) await compareLists(world, user);
  const start = (round % Math.ceil(allFolders.length / idsPerQuery)) * idsPerQuery;
  await compareIds(world, viewers[round % viewers.length]!, allFolders.slice(start, start + idsPerQuery));
}

async function compareLists(world: World, user: ModelUser): Promise<void> {
  const { model } = world;
  await world.compare(user, { query: allLists }, () => ({
    folder: expectedTree(model, user),
    ...Object.fromEntries(searchTexts.map((text, index) => [`s${index}`, expectedSearch(model, user, text)])),
    trash: {
      items: listTrash(model, user).map((folder) => expectedTrash(model, user, folder)),
      pageInfo: { hasNextPage: false },
    },
  }));
}

function expectedTree(model: TreeModel, user: ModelUser) {
  const seen = model.seenBy(user);
  const edges = model
    .descendants(model.root, seen)
    .map(({ folder, depth }) => ({ depth, node: expectedFolder(model, user, folder, seen) }));
  return {
    ...expectedFolder(model, user, model.root, seen),
    descendants: { totalCount: edges.length, edges },
  };
}

function expectedSearch(model: TreeModel, user: ModelUser, text: string) {
  const folders = search(model, user, text, undefined);
  return { totalCount: folders.length, items: folders.map(({ id }) => ({ id })) };
}

async function compareIds(world: World, user: ModelUser, folders: readonly ModelFolder[]): Promise<void> {
  const seen = world.model.seenBy(user);
  for (let start = 0; start < folders.length; start += idsPerQuery) {
    const some = folders.slice(start, start + idsPerQuery);
    const variables = Object.fromEntries(some.map(({ id }, index) => [`i${index}`, id]));
    await world.compare(user, { query: idsQuery(some.length), variables }, () =>
      Object.fromEntries(
        some.flatMap((folder, index) => {
          const expected = seen.has(folder) ? { id: folder.id } : null;
          return [
            [`f${index}`, expected],
            [`n${index}`, expected],
          ];
        }),
      ),
    );
  }
}

function idsQuery(count: number): string {
  const indexes = Array.from({ length: count }, (_, index) => index);
  const variables = indexes.map((index) => `$i${index}: ID!`);
  const fields = indexes.map(
    (index) => `f${index}: folder(id: $i${index}){id} n${index}: node(id: $i${index}){id}`,
  );
  return `query(${variables.join()}){${fields.join(' ')}}`;
}
