/** Random reads of one folder or of a whole list in one response. */

import fc from 'fast-check';
import {
  explainAccess,
  expectedExport,
  folderSelection,
  grantSelection,
  expectedFolder,
  expectedGrants,
} from './expected-responses.ts';
import { requireSeen } from './model-changes.ts';
import { operationKind, type OperationTable } from './operation.ts';
import { findActor, actors, resolveFolderId, seenFolders } from './references.ts';
import type { ModelFolder, ModelUser } from './tree-model.ts';
import type { World } from './world.ts';

const details = `${folderSelection} access{items{${grantSelection}}}`;

const byId = operationKind(
  10,
  fc.record({ actor: actors, folder: seenFolders, field: fc.constantFrom('folder', 'node') }),
  async (world, { actor, folder: reference, field }) => {
    const user = findActor(world, actor);
    const id = resolveFolderId(world, user, reference);
    const query = `query($id: ID!){${field}(id: $id){... on Folder{${details}}}}`;
    await world.compare(user, { query, field, variables: { id } }, () =>
      detailsOf(world, user, world.model.find(id)),
    );
  },
);

const byPath = operationKind(
  6,
  fc.record({
    actor: actors,
    folder: seenFolders,
    ending: fc.constantFrom('', '', '', '/', '/a', '/nowhere', 'x'),
    isDecomposed: fc.boolean(),
  }),
  async (world, { actor, folder: reference, ending, isDecomposed }) => {
    const { model } = world;
    const user = findActor(world, actor);
    const named = model.find(resolveFolderId(world, user, reference));
    const namedPath = named && model.pathTo(named) ? model.pathOf(named) : '/Root';
    const path = (isDecomposed ? namedPath.normalize('NFD') : namedPath) + ending;
    const query = `query($path: String!){folder(path: $path){${details}}}`;
    const wanted = path.normalize('NFC').replace(/(.)\/$/, '$1');
    await world.compare(user, { query, field: 'folder', variables: { path } }, () =>
      detailsOf(
        world,
        user,
        model.onTree().find((each) => model.pathOf(each) === wanted),
      ),
    );
  },
);

const explain = operationKind(
  6,
  fc.record({ actor: actors, user: fc.nat(4), folder: seenFolders }),
  async (world, { actor, user: about, folder }) => {
    const user = findActor(world, actor);
    const folderId = resolveFolderId(world, user, folder);
    const userId = world.model.users[about]?.id ?? world.model.groups[0]!.id;
    const query = `query($userId: ID!, $folderId: ID!){explainAccess(userId: $userId, folderId: $folderId){
      user{id} folder{id} level isPassage grant{${grantSelection}}}}`;
    await world.compare(user, { query, field: 'explainAccess', variables: { userId, folderId } }, () =>
      explainAccess(world.model, user, userId, folderId),
    );
  },
);

const exportAll = operationKind(
  3,
  fc.record({
    actor: actors,
    folder: fc.option(seenFolders, { nil: undefined }),
    depth: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
  }),
  async (world, { actor, folder, depth }) => {
    const user = findActor(world, actor);
    const id = folder && resolveFolderId(world, user, folder);
    const query = `query($id: ID, $depth: Int){
      exportFolders(id: $id, depth: $depth){path title icon description properties}}`;
    await world.compare(user, { query, field: 'exportFolders', variables: { id, depth } }, () =>
      expectedExport(world.model, user, requireSeen(world.model, user, id ?? world.model.root.id), depth),
    );
  },
);

export const readingOperations: OperationTable = { byId, byPath, explain, export: exportAll };

function detailsOf({ model }: World, user: ModelUser, folder: ModelFolder | undefined) {
  const seen = model.seenBy(user);
  if (!folder || !seen.has(folder)) return null;
  return {
    ...expectedFolder(model, user, folder, seen),
    access: { items: expectedGrants(model, user, folder) },
  };
}
