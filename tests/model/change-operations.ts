/** Random changes of the tree: create, update, move, delete, restore, import. */

import fc from 'fast-check';
import { folderSelection, expectedFolder } from './expected-responses.ts';
import {
  createFolder,
  deleteFolder,
  importFolders,
  moveFolder,
  restoreFolder,
  updateFolder,
} from './model-changes.ts';
import type { PathInput, TreeInput } from './model-input.ts';
import { operationKind, type OperationTable } from './operation.ts';
import {
  findActor,
  actors,
  selectExpectedVersion,
  resolveFolderId,
  textInputs,
  titleInputs,
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
const optional = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined });
const anyTexts = weighted([2, fc.constant({})], [1, textInputs]);
const onlyValidTexts = weighted([3, fc.constant({})], [1, validTexts]);

const create = operationKind(
  20,
  fc.record({
    actor: actors,
    parent: optional(writableFolders),
    name: names,
    texts: anyTexts,
    version: versions,
  }),
  async (world, { actor, parent, name, texts: textInput, version }) => {
    const user = findActor(world, actor);
    const parentId = parent && resolveFolderId(world, user, parent);
    const versioned = selectExpectedVersion(world, parentId ?? world.model.root.id, version);
    const input = { parentId, name, ...textInput, ...versioned };
    await world.mutate<FolderPayload>(user, 'createFolder', input, payload, (response) => {
      const folder = createFolder(world.model, user, input);
      folder.id = response?.folder.id ?? '';
      return { folder: expected(world, user, folder) };
    });
  },
);

const update = operationKind(
  10,
  fc.record({
    actor: actors,
    folder: writableFolders,
    name: optional(names),
    texts: anyTexts,
    version: versions,
  }),
  async (world, { actor, folder: reference, name, texts: textInput, version }) => {
    const user = findActor(world, actor);
    const id = resolveFolderId(world, user, reference);
    const input = {
      id,
      ...(name !== undefined && { name }),
      ...textInput,
      ...selectExpectedVersion(world, id, version),
    };
    await world.mutate(user, 'updateFolder', input, payload, () => ({
      folder: expected(world, user, updateFolder(world.model, user, input)),
    }));
  },
);

const move = operationKind(
  16,
  fc.record({
    actor: actors,
    folder: writableFolders,
    to: writableFolders,
    name: optional(names),
    dryRun: weighted([3, fc.constant(false)], [1, fc.constant(true)]),
    version: versions,
  }),
  async (world, { actor, folder: reference, to, name, dryRun, version }) => {
    const user = findActor(world, actor);
    const id = resolveFolderId(world, user, reference);
    const parentId = resolveFolderId(world, user, to);
    const input = {
      id,
      parentId,
      ...(name !== undefined && { name }),
      dryRun,
      ...selectExpectedVersion(world, id, version),
    };
    const selection = `${payload} isDryRun folderCount accessChanges{items{user{id} before after}}`;
    await world.mutate(user, 'moveFolder', input, selection, () => {
      const { folder, folderCount, accessChanges } = moveFolder(world.model, user, input);
      return {
        folder: expected(world, user, folder),
        isDryRun: dryRun === true,
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
    const user = findActor(world, actor);
    const id = resolveFolderId(world, user, reference);
    const input = { id, recursive, ...selectExpectedVersion(world, id, version) };
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
    const user = findActor(world, actor);
    const id = resolveFolderId(world, user, reference);
    const parentId = to && resolveFolderId(world, user, to);
    const input = { id, parentId, name, ...selectExpectedVersion(world, id, version) };
    await world.mutate(user, 'restoreFolder', input, payload, () => ({
      folder: expected(world, user, restoreFolder(world.model, user, input)),
    }));
  },
);

const leafTrees: fc.Arbitrary<TreeInput> = fc
  .tuple(validNames, onlyValidTexts)
  .map(([name, textInput]) => ({ name, ...textInput }));
const withSubfolders = (inside: fc.Arbitrary<TreeInput>): fc.Arbitrary<TreeInput> =>
  fc.tuple(leafTrees, fc.array(inside, { maxLength: 3 })).map(([leaf, folders]) => ({ ...leaf, folders }));
const trees = withSubfolders(withSubfolders(leafTrees));

const paths: fc.Arbitrary<PathInput> = fc
  .tuple(fc.array(validNames, { minLength: 1, maxLength: 3 }), onlyValidTexts)
  .map(([steps, textInput]) => ({ path: steps.join('/'), ...textInput }));

const importSelection = 'parent{id version} folderCount createdCount updatedCount keptCount isDryRun';

const importMany = operationKind(
  6,
  fc.record({
    actor: actors,
    parent: optional(writableFolders),
    what: fc.oneof(
      fc.record({ tree: fc.array(trees, { maxLength: 3 }) }),
      fc.record({ list: fc.array(paths, { maxLength: 6 }) }),
      fc.record({ tree: fc.tuple(fc.record({ name: names, title: titleInputs })) }),
    ),
    onExisting: optional(fc.constantFrom<'FAIL' | 'KEEP' | 'UPDATE'>('FAIL', 'KEEP', 'UPDATE', 'UPDATE')),
    dryRun: fc.integer({ min: 0, max: 4 }).map((number) => number === 0),
    version: versions,
  }),
  async (world, { actor, parent, what, onExisting, dryRun, version }) => {
    const user = findActor(world, actor);
    const parentId = parent && resolveFolderId(world, user, parent);
    const input = {
      parentId,
      ...what,
      onExisting,
      dryRun,
      ...selectExpectedVersion(world, parentId ?? world.model.root.id, version),
    };
    let imported: ReturnType<typeof importFolders> | undefined;
    await world.mutate(user, 'importFolders', input, importSelection, () => {
      imported = importFolders(world.model, user, input);
      const { parent: into, createdCount, updated, kept } = imported;
      return {
        parent: { id: into.id, version: into.version },
        folderCount: createdCount,
        createdCount,
        updatedCount: updated,
        keptCount: kept,
        // An import that `steer` adds does not set `dryRun`.
        isDryRun: dryRun === true,
      };
    });
    if (imported) await readIds(world, imported.parent, imported.added);
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

function expected({ model }: World, user: ModelUser, folder: ModelFolder) {
  return expectedFolder(model, user, folder, model.seenBy(user));
}

/** Reads the ids of imported folders, because the response of an import does not contain them. */
async function readIds(world: World, parent: ModelFolder, added: readonly ModelFolder[]): Promise<void> {
  const query = 'query($id: ID!){folder(id: $id){descendants{items{id path}}}}';
  const { data } = await world.execute(world.administrator, query, { id: parent.id });
  const { descendants } = data!['folder'] as { descendants: { items: { id: string; path: string }[] } };
  const ids = new Map(descendants.items.map(({ id, path }) => [path, id]));
  for (const folder of added) {
    const path = world.model.pathOf(folder);
    folder.id = ids.get(path) ?? disagree('an import', [...ids.keys()], path);
  }
}
