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
  readonly fresh: () => string;
}

const maxFolders = 30;
const maxInTrash = 8;

const operations: readonly { weight: number; make: (chosen: OperationContext) => Operation | undefined }[] = [
  { weight: 8, make: create },
  { weight: 4, make: rename },
  { weight: 4, make: retitle },
  { weight: 5, make: move },
  { weight: 4, make: remove },
  { weight: 4, make: restore },
  { weight: 1, make: importSome },
  { weight: 1, make: updateStale },
  { weight: 1, make: reuseName },
];
const allWeights = operations.reduce((sum, { weight }) => sum + weight, 0);

export function chooseOperation(chosen: OperationContext): Operation {
  for (;;) {
    let left = chosen.random.below(allWeights);
    const { make } = operations.find(({ weight }) => (left -= weight) < 0)!;
    const operation = make(chosen);
    if (operation) return operation;
  }
}

function create({ state, topId, random, fresh }: OperationContext): Operation | undefined {
  const { model } = state;
  if (model.size >= maxFolders) return undefined;
  const parentId = random.pick([topId, ...model.keys()]);
  const name = fresh();
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

function rename({ state, random, fresh }: OperationContext): Operation | undefined {
  return update(state, random, { name: fresh() });
}

function retitle({ state, random, fresh }: OperationContext): Operation | undefined {
  return update(state, random, { title: fresh() });
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
  const inside = subtree(model, id);
  const parentIds = [topId, ...model.keys()].filter(
    (index) => !inside.has(index) && index !== model.get(id)!.parentId,
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
  const restorable = state.trash.filter(
    ({ formerParentId }) => formerParentId === topId || state.model.has(formerParentId),
  );
  if (restorable.length === 0 || state.model.size >= 2 * maxFolders) return undefined;
  const trashed = random.pick(restorable);
  const { id, folders } = trashed;
  const parentId = random.chance(0.5) ? trashed.formerParentId : topId;
  const isElsewhere = parentId !== trashed.formerParentId;
  return {
    name: 'restoreFolder',
    input: { id, ...(isElsewhere && { parentId }) },
    kind: 'RESTORE_FOLDER',
    folderId: id,
    expectedAfter: { name: folders.get(id)!.name },
    after: withRestored(state, trashed, parentId),
  };
}

function importSome({ state, topId, random, fresh }: OperationContext): Operation | undefined {
  if (state.model.size >= maxFolders) return undefined;
  const parentId = random.pick([topId, ...state.model.keys()]);
  const name = fresh();
  const folder = (above: string, called: string) => ({
    parentId: above,
    name: called,
    title: called,
    version: 1,
  });
  const model = new Map([
    ...state.model,
    ['new 1', folder(parentId, name)],
    ['new 2', folder('new 1', `${name} a`)],
    ['new 3', folder('new 1', `${name} b`)],
  ]);
  return {
    name: 'importFolders',
    input: { parentId, list: [{ path: `${name}/${name} a` }, { path: `${name}/${name} b` }] },
    kind: 'IMPORT_FOLDERS',
    folderId: parentId,
    expectedAfter: { count: 3 },
    after: { ...state, model },
  };
}

/** An update with a stale version, which the server must refuse. */
function updateStale({ state, random, fresh }: OperationContext): Operation | undefined {
  const operation = update(state, random, { title: fresh() });
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
