/** Changing the tree at random: create, update, move, delete, restore, import. */

import fc from 'fast-check';
import { folderSelection, shownFolder } from './model-answers.ts';
import {
  createFolder,
  deleteFolder,
  importFolders,
  moveFolder,
  restoreFolder,
  updateFolder,
  type GivenPath,
  type GivenTree,
} from './model-changes.ts';
import { operationKind, type OperationTable } from './operation.ts';
import {
  actorOf,
  actors,
  expectedVersion,
  folderIdOf,
  givenTexts,
  givenTitles,
  names,
  trashedFolders,
  validNames,
  validTexts,
  versions,
  weighted,
  writableFolders,
} from './references.ts';
import { levelNames, type ModelFolder, type ModelUser } from './tree-model.ts';
import { disagree, type World } from './world.ts';

interface FolderPayload {
  readonly folder: { readonly id: string };
}

const payload = `folder{${folderSelection}}`;
const maybe = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined });
const texts = weighted([2, fc.constant({})], [1, givenTexts]);
const fineTexts = weighted([3, fc.constant({})], [1, validTexts]);

const create = operationKind(
  20,
  fc.record({ actor: actors, parent: maybe(writableFolders), name: names, texts, version: versions }),
  async (world, { actor, parent, name, texts: given, version }) => {
    const user = actorOf(world, actor);
    const parentId = parent && folderIdOf(world, user, parent);
    const versioned = expectedVersion(world, parentId ?? world.model.root.id, version);
    const input = { parentId, name, ...given, ...versioned };
    await world.mutate<FolderPayload>(user, 'createFolder', input, payload, (answer) => {
      const folder = createFolder(world.model, user, input);
      folder.id = answer?.folder.id ?? '';
      return { folder: shown(world, user, folder) };
    });
  },
);

const update = operationKind(
  10,
  fc.record({ actor: actors, folder: writableFolders, name: maybe(names), texts, version: versions }),
  async (world, { actor, folder: reference, name, texts: given, version }) => {
    const user = actorOf(world, actor);
    const id = folderIdOf(world, user, reference);
    const input = {
      id,
      ...(name !== undefined && { name }),
      ...given,
      ...expectedVersion(world, id, version),
    };
    await world.mutate(user, 'updateFolder', input, payload, () => ({
      folder: shown(world, user, updateFolder(world.model, user, input)),
    }));
  },
);

const move = operationKind(
  16,
  fc.record({
    actor: actors,
    folder: writableFolders,
    to: writableFolders,
    dryRun: weighted([3, fc.constant(false)], [1, fc.constant(true)]),
    version: versions,
  }),
  async (world, { actor, folder: reference, to, dryRun, version }) => {
    const user = actorOf(world, actor);
    const id = folderIdOf(world, user, reference);
    const parentId = folderIdOf(world, user, to);
    const input = { id, parentId, dryRun, ...expectedVersion(world, id, version) };
    const selection = `${payload} isDryRun folderCount accessChanges{items{user{id} before after}}`;
    await world.mutate(user, 'moveFolder', input, selection, () => {
      const { folder, folderCount, accessChanges } = moveFolder(world.model, user, input);
      return {
        folder: shown(world, user, folder),
        isDryRun: dryRun,
        folderCount,
        accessChanges: accessChanges && {
          items: accessChanges.map(({ user: { id: userId }, before, after }) => ({
            user: { id: userId },
            before: levelNames[before],
            after: levelNames[after],
          })),
        },
      };
    });
  },
);

const remove = operationKind(
  13,
  fc.record({ actor: actors, folder: writableFolders, recursive: fc.boolean(), version: versions }),
  async (world, { actor, folder: reference, recursive, version }) => {
    const user = actorOf(world, actor);
    const id = folderIdOf(world, user, reference);
    const input = { id, recursive, ...expectedVersion(world, id, version) };
    await world.mutate(user, 'deleteFolder', input, 'folderId folderCount', () => {
      const { folder, folderCount } = deleteFolder(world.model, user, input);
      return { folderId: folder.id, folderCount };
    });
  },
);

const restore = operationKind(
  9,
  fc.record({
    actor: actors,
    folder: trashedFolders,
    to: weighted([2, fc.constant(undefined)], [1, writableFolders]),
    name: weighted([2, fc.constant(undefined)], [1, names]),
    version: versions,
  }),
  async (world, { actor, folder: reference, to, name, version }) => {
    const user = actorOf(world, actor);
    const id = folderIdOf(world, user, reference);
    const parentId = to && folderIdOf(world, user, to);
    const input = { id, parentId, name, ...expectedVersion(world, id, version) };
    await world.mutate(user, 'restoreFolder', input, payload, () => ({
      folder: shown(world, user, restoreFolder(world.model, user, input)),
    }));
  },
);

const leaves: fc.Arbitrary<GivenTree> = fc
  .tuple(validNames, fineTexts)
  .map(([name, given]) => ({ name, ...given }));
const withInside = (inside: fc.Arbitrary<GivenTree>): fc.Arbitrary<GivenTree> =>
  fc.tuple(leaves, fc.array(inside, { maxLength: 3 })).map(([leaf, folders]) => ({ ...leaf, folders }));
const trees = withInside(withInside(leaves));

const paths: fc.Arbitrary<GivenPath> = fc
  .tuple(fc.array(validNames, { minLength: 1, maxLength: 3 }), fineTexts)
  .map(([steps, given]) => ({ path: steps.join('/'), ...given }));

const importMany = operationKind(
  4,
  fc.record({
    actor: actors,
    parent: maybe(writableFolders),
    what: fc.oneof(
      fc.record({ tree: fc.array(trees, { maxLength: 3 }) }),
      fc.record({ list: fc.array(paths, { maxLength: 6 }) }),
      fc.record({ tree: fc.tuple(fc.record({ name: names, title: givenTitles })) }),
    ),
    version: versions,
  }),
  async (world, { actor, parent, what, version }) => {
    const user = actorOf(world, actor);
    const parentId = parent && folderIdOf(world, user, parent);
    const input = {
      parentId,
      ...what,
      ...expectedVersion(world, parentId ?? world.model.root.id, version),
    };
    let imported: ReturnType<typeof importFolders> | undefined;
    await world.mutate(user, 'importFolders', input, 'parent{id version} folderCount', () => {
      imported = importFolders(world.model, user, input);
      const { parent: into, planted } = imported;
      return { parent: { id: into.id, version: into.version }, folderCount: planted.length };
    });
    if (imported) await learnIds(world, imported.parent, imported.planted);
  },
);

export const changeOperations: OperationTable = {
  create,
  update,
  move,
  delete: remove,
  restore,
  import: importMany,
};

function shown({ model }: World, user: ModelUser, folder: ModelFolder) {
  return shownFolder(model, user, folder, model.seenBy(user));
}

/** An import does not tell them. */
async function learnIds(world: World, parent: ModelFolder, planted: readonly ModelFolder[]): Promise<void> {
  const query = 'query($id: ID!){folder(id: $id){descendants{items{id path}}}}';
  const { data } = await world.ask(world.administrator, query, { id: parent.id });
  const { descendants } = data!['folder'] as { descendants: { items: { id: string; path: string }[] } };
  const ids = new Map(descendants.items.map(({ id, path }) => [path, id]));
  for (const folder of planted) {
    const path = world.model.pathOf(folder);
    folder.id = ids.get(path) ?? disagree('an import', [...ids.keys()], path);
  }
}
