/** Random operations of a writer on its own subtree, with their expected results. */

import type { Variables } from '../../support/graph-testbed.ts';
import {
  subtree,
  withChange,
  withDeleted,
  withFolder,
  withRestored,
  type Model,
  type State,
} from './folder-model.ts';
import type { Random } from './random.ts';

export interface Operation {
  /** The mutation and the selection of its payload. */
  readonly name: string;
  readonly input: Variables;
  /** The kind of the journal entry and the folder that it names; undefined for a new folder. */
  readonly kind: string;
  readonly folderId: string | undefined;
  /** Expected values in the journal entry, as far as they are known. */
  readonly expectedAfter: Readonly<Record<string, unknown>>;
  /** The state after the operation succeeds. */
  readonly after: State;
  /** The code of an expected refusal. */
  readonly refusal?: string;
}

interface OperationContext {
  readonly state: State;
  readonly topId: string;
  readonly random: Random;
  /** Returns a unique name. */
  readonly uniqueName: () => string;
}

const maxFolders = 30;
const maxInTrash = 8;

const operations: readonly { weight: number; build: (context: OperationContext) => Operation | undefined }[] =
  [
    { weight: 8, build: create },
    { weight: 4, build: rename },
    { weight: 4, build: retitle },
    { weight: 5, build: move },
    { weight: 4, build: remove },
    { weight: 4, build: restore },
    { weight: 1, build: importFolders },
    { weight: 1, build: updateStale },
    { weight: 1, build: reuseName },
  ];
const totalWeight = operations.reduce((sum, { weight }) => sum + weight, 0);

export function chooseOperation(context: OperationContext): Operation {
  for (;;) {
    let remainingWeight = context.random.below(totalWeight);
    const { build } = operations.find(({ weight }) => (remainingWeight -= weight) < 0)!;
    const operation = build(context);
    if (operation) return operation;
  }
}

function create({ state, topId, random, uniqueName }: OperationContext): Operation | undefined {
  const { model } = state;
  if (model.size >= maxFolders) return undefined;
  const parentId = random.pick([topId, ...model.keys()]);
  const name = uniqueName();
  const folder = { parentId, name, title: name, version: 1 };
  return {
    name: 'createFolder',
    input: { parentId, name },
    kind: 'CREATE_FOLDER',
    folderId: undefined,
    expectedAfter: { name },
    after: { ...state, model: withFolder(model, 'new', folder) },
  };
}

function rename({ state, random, uniqueName }: OperationContext): Operation | undefined {
  return update(state, random, { name: uniqueName() });
}

function retitle({ state, random, uniqueName }: OperationContext): Operation | undefined {
  return update(state, random, { title: uniqueName() });
}

function update(
  state: State,
  random: Random,
  change: { name: string } | { title: string },
): Operation | undefined {
  const id = pickFolder(state.model, random);
  if (!id) return undefined;
  return {
    name: 'updateFolder',
    input: { id, ...change },
    kind: 'UPDATE_FOLDER',
    folderId: id,
    expectedAfter: change,
    after: { ...state, model: withChange(state.model, id, change) },
  };
}

function move({ state, topId, random }: OperationContext): Operation | undefined {
  const { model } = state;
  const id = pickFolder(model, random);
  if (!id) return undefined;
  const ownSubtree = subtree(model, id);
  const parentIds = [topId, ...model.keys()].filter(
    (index) => !ownSubtree.has(index) && index !== model.get(id)!.parentId,
  );
  if (parentIds.length === 0) return undefined;
  const parentId = random.pick(parentIds);
  return {
    name: 'moveFolder',
    input: { id, parentId },
    kind: 'MOVE_FOLDER',
    folderId: id,
    expectedAfter: { parentId },
    after: { ...state, model: withChange(model, id, { parentId }) },
  };
}

function remove({ state, random }: OperationContext): Operation | undefined {
  const id = pickFolder(state.model, random);
  if (!id || state.trash.length >= maxInTrash) return undefined;
  return {
    name: 'deleteFolder',
    input: { id, recursive: true },
    kind: 'DELETE_FOLDER',
    folderId: id,
    expectedAfter: {},
    after: withDeleted(state, id),
  };
}

function restore({ state, topId, random }: OperationContext): Operation | undefined {
  // The former parent must exist, because otherwise only an administrator may restore the folder.
  const restorableFolders = state.trash.filter(
    ({ formerParentId }) => formerParentId === topId || state.model.has(formerParentId),
  );
  if (restorableFolders.length === 0 || state.model.size >= 2 * maxFolders) return undefined;
  const trashedFolder = random.pick(restorableFolders);
  const { id, folders } = trashedFolder;
  const parentId = random.chance(0.5) ? trashedFolder.formerParentId : topId;
  const isElsewhere = parentId !== trashedFolder.formerParentId;
  return {
    name: 'restoreFolder',
    input: { id, ...(isElsewhere && { parentId }) },
    kind: 'RESTORE_FOLDER',
    folderId: id,
    expectedAfter: { name: folders.get(id)!.name },
    after: withRestored(state, trashedFolder, parentId),
  };
}

function importFolders({ state, topId, random, uniqueName }: OperationContext): Operation | undefined {
  if (state.model.size >= maxFolders) return undefined;
  const topParentId = random.pick([topId, ...state.model.keys()]);
  const topName = uniqueName();
  const createFolder = (parentId: string, name: string) => ({ parentId, name, title: name, version: 1 });
  const model = new Map([
    ...state.model,
    ['new 1', createFolder(topParentId, topName)],
    ['new 2', createFolder('new 1', `${topName} a`)],
    ['new 3', createFolder('new 1', `${topName} b`)],
  ]);
  return {
    name: 'importFolders',
    input: {
      parentId: topParentId,
      list: [{ path: `${topName}/${topName} a` }, { path: `${topName}/${topName} b` }],
    },
    kind: 'IMPORT_FOLDERS',
    folderId: topParentId,
    expectedAfter: { count: 3 },
    after: { ...state, model },
  };
}

/** An update with a stale version, which the server must refuse. */
function updateStale({ state, random, uniqueName }: OperationContext): Operation | undefined {
  const operation = update(state, random, { title: uniqueName() });
  if (!operation) return undefined;
  const expectedVersion = state.model.get(operation.folderId!)!.version - 1;
  return { ...operation, input: { ...operation.input, expectedVersion }, after: state, refusal: 'CONFLICT' };
}

function reuseName({ state, random }: OperationContext): Operation | undefined {
  const id = pickFolder(state.model, random);
  if (!id) return undefined;
  const { parentId, name } = state.model.get(id)!;
  return {
    name: 'createFolder',
    input: { parentId, name },
    kind: 'CREATE_FOLDER',
    folderId: undefined,
    expectedAfter: { name },
    after: state,
    refusal: 'CONFLICT',
  };
}

function pickFolder(model: Model, random: Random): string | undefined {
  return model.size > 0 ? random.pick([...model.keys()]) : undefined;
}
