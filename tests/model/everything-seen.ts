/** Everything that each user can see, compared with the model: the tree, every id that ever was, search and trash. */

import { folderSelection, search, shownFolder, shownTrash, trashSelection } from './model-answers.ts';
import { trashOf } from './model-changes.ts';
import type { ModelFolder, ModelUser, TreeModel } from './tree-model.ts';
import type { World } from './world.ts';

/** A query may select 500 fields; each id takes four. */
const idsPerQuery = 100;
const searched = ['a', 'floor', 'zebra', 'Étage'];

const allLists = `
  {folder{...Shown descendants{totalCount edges{depth node{...Shown}}}}
  ${searched.map((text, place) => `s${place}: search(text: "${text}", first: 1000){totalCount items{id}}`).join(' ')}
  trash(first: 1000){items{${trashSelection}} pageInfo{hasNextPage}}}
  fragment Shown on Folder{${folderSelection}}`;

export async function compareEverything(world: World): Promise<void> {
  for (const user of world.model.users) {
    await compareLists(world, user);
    await compareIds(world, user, world.model.known);
  }
}

/** All but the ids, of which there are many: of these, a hundred of one user by turns. */
export async function compareMost(world: World, turn: number): Promise<void> {
  const { users, known } = world.model;
  for (const user of users) await compareLists(world, user);
  const start = (turn % Math.ceil(known.length / idsPerQuery)) * idsPerQuery;
  await compareIds(world, users[turn % users.length]!, known.slice(start, start + idsPerQuery));
}

async function compareLists(world: World, user: ModelUser): Promise<void> {
  const { model } = world;
  await world.compare(user, { query: allLists }, () => ({
    folder: wholeTree(model, user),
    ...Object.fromEntries(searched.map((text, place) => [`s${place}`, found(model, user, text)])),
    trash: {
      items: trashOf(model, user).map((folder) => shownTrash(model, user, folder)),
      pageInfo: { hasNextPage: false },
    },
  }));
}

function wholeTree(model: TreeModel, user: ModelUser) {
  const seen = model.seenBy(user);
  const edges = model
    .descendants(model.root, seen)
    .map(({ folder, depth }) => ({ depth, node: shownFolder(model, user, folder, seen) }));
  return { ...shownFolder(model, user, model.root, seen), descendants: { totalCount: edges.length, edges } };
}

function found(model: TreeModel, user: ModelUser, text: string) {
  const folders = search(model, user, text, undefined);
  return { totalCount: folders.length, items: folders.map(({ id }) => ({ id })) };
}

async function compareIds(world: World, user: ModelUser, folders: readonly ModelFolder[]): Promise<void> {
  const seen = world.model.seenBy(user);
  for (let start = 0; start < folders.length; start += idsPerQuery) {
    const some = folders.slice(start, start + idsPerQuery);
    const variables = Object.fromEntries(some.map(({ id }, place) => [`i${place}`, id]));
    await world.compare(user, { query: lookUp(some.length), variables }, () =>
      Object.fromEntries(
        some.flatMap((folder, place) => {
          const shown = seen.has(folder) ? { id: folder.id } : null;
          return [
            [`f${place}`, shown],
            [`n${place}`, shown],
          ];
        }),
      ),
    );
  }
}

function lookUp(count: number): string {
  const places = Array.from({ length: count }, (_, place) => place);
  const variables = places.map((place) => `$i${place}: ID!`);
  const fields = places.map(
    (place) => `f${place}: folder(id: $i${place}){id} n${place}: node(id: $i${place}){id}`,
  );
  return `query(${variables.join()}){${fields.join(' ')}}`;
}
