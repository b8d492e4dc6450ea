/** What a writer does at random to its own part of the tree, and what it makes of it. */

import type { Variables } from '../../graph-bed.ts';
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
  /** Of its journal entry, and which folder that names; undefined for a new one. */
  readonly kind: string;
  readonly folderId: string | undefined;
  /** What the entry says it became, as far as it is known. */
  readonly became: Readonly<Record<string, unknown>>;
  /** If it is done. */
  readonly after: State;
  /** It must be refused with this code. */
  readonly refusal?: string;
}

interface Chosen {
  readonly state: State;
  readonly topId: string;
  readonly random: Random;
  /** Never the same twice. */
  readonly fresh: () => string;
}

const mostFolders = 30;
const mostInTrash = 8;

const operations: readonly { weight: number; make: (chosen: Chosen) => Operation | undefined }[] = [
  { weight: 8, make: create },
  { weight: 4, make: rename },
  { weight: 4, make: retitle },
  { weight: 5, make: move },
  { weight: 4, make: remove },
  { weight: 4, make: restore },
  { weight: 1, make: importSome },
  { weight: 1, make: updateStale },
  { weight: 1, make: takeTakenName },
];
const allWeights = operations.reduce((sum, { weight }) => sum + weight, 0);

export function chooseOperation(chosen: Chosen): Operation {
  for (;;) {
    let left = chosen.random.below(allWeights);
    const { make } = operations.find(({ weight }) => (left -= weight) < 0)!;
    const operation = make(chosen);
    if (operation) return operation;
  }
}

function create({ state, topId, random, fresh }: Chosen): Operation | undefined {
  const { model } = state;
  if (model.size >= mostFolders) return undefined;
  const parentId = random.pick([topId, ...model.keys()]);
  const name = fresh();
  const folder = { parentId, name, title: name, version: 1 };
  return {
    name: 'createFolder',
    input: { parentId, name },
    kind: 'CREATE_FOLDER',
    folderId: undefined,
    became: { name },
    after: { ...state, model: withFolder(model, 'new', folder) },
  };
}

function rename({ state, random, fresh }: Chosen): Operation | undefined {
  return update(state, random, { name: fresh() });
}

function retitle({ state, random, fresh }: Chosen): Operation | undefined {
  return update(state, random, { title: fresh() });
}

function update(
  state: State,
  random: Random,
  change: { name: string } | { title: string },
): Operation | undefined {
  const id = anyOf(state.model, random);
  if (!id) return undefined;
  return {
    name: 'updateFolder',
    input: { id, ...change },
    kind: 'UPDATE_FOLDER',
    folderId: id,
    became: change,
    after: { ...state, model: withChange(state.model, id, change) },
  };
}

function move({ state, topId, random }: Chosen): Operation | undefined {
  const { model } = state;
  const id = anyOf(model, random);
  if (!id) return undefined;
  const inside = subtree(model, id);
  const places = [topId, ...model.keys()].filter(
    (place) => !inside.has(place) && place !== model.get(id)!.parentId,
  );
  if (places.length === 0) return undefined;
  const parentId = random.pick(places);
  return {
    name: 'moveFolder',
    input: { id, parentId },
    kind: 'MOVE_FOLDER',
    folderId: id,
    became: { parentId },
    after: { ...state, model: withChange(model, id, { parentId }) },
  };
}

function remove({ state, random }: Chosen): Operation | undefined {
  const id = anyOf(state.model, random);
  if (!id || state.trash.length >= mostInTrash) return undefined;
  return {
    name: 'deleteFolder',
    input: { id, recursive: true },
    kind: 'DELETE_FOLDER',
    folderId: id,
    became: {},
    after: withDeleted(state, id),
  };
}

function restore({ state, topId, random }: Chosen): Operation | undefined {
  // Where the folder was must be there: otherwise only administrators know that it was theirs.
  const there = state.trash.filter(
    ({ formerParentId }) => formerParentId === topId || state.model.has(formerParentId),
  );
  if (there.length === 0 || state.model.size >= 2 * mostFolders) return undefined;
  const trashed = random.pick(there);
  const { id, folders } = trashed;
  const parentId = random.chance(0.5) ? trashed.formerParentId : topId;
  const isElsewhere = parentId !== trashed.formerParentId;
  return {
    name: 'restoreFolder',
    input: { id, ...(isElsewhere && { parentId }) },
    kind: 'RESTORE_FOLDER',
    folderId: id,
    became: { name: folders.get(id)!.name },
    after: withRestored(state, trashed, parentId),
  };
}

function importSome({ state, topId, random, fresh }: Chosen): Operation | undefined {
  if (state.model.size >= mostFolders) return undefined;
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
    became: { count: 3 },
    after: { ...state, model },
  };
}

/** What others have changed meanwhile must not be overwritten. */
function updateStale({ state, random, fresh }: Chosen): Operation | undefined {
  const operation = update(state, random, { title: fresh() });
  if (!operation) return undefined;
  const expectedVersion = state.model.get(operation.folderId!)!.version - 1;
  return { ...operation, input: { ...operation.input, expectedVersion }, after: state, refusal: 'CONFLICT' };
}

function takeTakenName({ state, random }: Chosen): Operation | undefined {
  const id = anyOf(state.model, random);
  if (!id) return undefined;
  const { parentId, name } = state.model.get(id)!;
  return {
    name: 'createFolder',
    input: { parentId, name },
    kind: 'CREATE_FOLDER',
    folderId: undefined,
    became: { name },
    after: state,
    refusal: 'CONFLICT',
  };
}

function anyOf(model: Model, random: Random): string | undefined {
  return model.size > 0 ? random.pick([...model.keys()]) : undefined;
}
