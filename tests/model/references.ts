/**
 * References of random operations to objects that do not exist yet: a number selects one of the objects that
 * exist at run time. An operation therefore stays valid when earlier ones are removed.
 */

import fc from 'fast-check';
import { listTrash } from './model-changes.ts';
import { WRITE, type ModelFolder, type ModelUser, type TreeModel } from './tree-model.ts';
import type { World } from './world.ts';

/** 0 is the administrator, 1 to 3 are users, and the others are API keys. */
export const actors = weighted(
  [1, fc.constant(0)],
  [3, fc.integer({ min: 1, max: 3 })],
  [3, fc.integer({ min: 4, max: 7 })],
);

/** Returns a user if the API key does not exist yet. */
export function findActor({ model: { users }, keys }: World, actor: number): ModelUser {
  return users[actor] ?? keys[actor - users.length] ?? users[actor % users.length]!;
}

/** The pool to select a folder from, for example the folders that the actor sees, and the index in it. */
export interface FolderReference {
  readonly among: 'root' | 'branches' | 'writable' | 'seen' | 'tree' | 'trash' | 'allFolders' | 'nothing';
  readonly at: number;
}

const referencesTo = (...pools: [number, FolderReference['among']][]) =>
  fc.record({
    among: weighted(...pools.map(([weight, pool]) => [weight, fc.constant(pool)] as const)),
    at: fc.nat(9_999),
  });

export const seenFolders = referencesTo(
  [1, 'root'],
  [16, 'seen'],
  [3, 'tree'],
  [2, 'allFolders'],
  [1, 'nothing'],
);
export const writableFolders = referencesTo(
  [1, 'root'],
  [14, 'writable'],
  [4, 'seen'],
  [2, 'tree'],
  [1, 'allFolders'],
  [1, 'nothing'],
);
/** Folders with subfolders, where a grant affects several folders. */
export const branches = referencesTo([1, 'root'], [12, 'branches']);
export const trashedFolders = referencesTo([12, 'trash'], [3, 'allFolders'], [1, 'seen'], [1, 'nothing']);

const unknownIds = [
  '',
  'x',
  '00000000-0000-0000-0000-000000000000',
  '019c1407-aa00-7abc-8def-0123456789ab',
  '%',
];

export function resolveFolderId({ model }: World, actor: ModelUser, { among, at }: FolderReference): string {
  if (among === 'nothing') {
    const ids = [...unknownIds, model.root.id.toUpperCase(), actor.id];
    return ids[at % ids.length]!;
  }
  const pool = selectPool(model, actor, among);
  const { id } = pool.length > 0 ? pool[at % pool.length]! : model.root;
  return id;
}

/** The order must not depend on ids, which are new in every run. */
function selectPool(
  model: TreeModel,
  actor: ModelUser,
  among: Exclude<FolderReference['among'], 'nothing'>,
): readonly ModelFolder[] {
  switch (among) {
    case 'root':
      return [model.root];
    case 'tree':
      return model.onTree();
    case 'branches':
      return model.onTree().filter(({ children }) => children.size > 0);
    case 'allFolders':
      return model.allFolders;
    case 'writable':
      return model.onTree().filter((folder) => model.levelOf(actor, folder) >= WRITE);
    case 'seen': {
      const seen = model.seenBy(actor);
      return model.allFolders.filter((folder) => seen.has(folder));
    }
    case 'trash': {
      const trashed = new Set(listTrash(model, actor));
      return model.allFolders.filter((folder) => trashed.has(folder));
    }
  }
}

export const versions = weighted(
  [8, fc.constant('any' as const)],
  [1, fc.constant('right' as const)],
  [1, fc.constant('stale' as const)],
);

export function selectExpectedVersion(
  { model }: World,
  id: string,
  version: 'any' | 'right' | 'stale',
): { expectedVersion?: number } {
  if (version === 'any') return {};
  const currentVersion = model.find(id)?.version ?? 1;
  return { expectedVersion: version === 'right' ? currentVersion : currentVersion - 1 };
}

/** A few names, so that they collide. They cover natural order, case folding and escaping. */
const validNameList = [
  ...['a', 'A', 'b', 'e', 'É', 'E\u0301', 'Floor 2', 'Floor 10', 'floor 02', 'x_y', '100%', 'back\\slash'],
  ...['zebra crossing', 'a zebra', '日本', 'ß', '👩‍🔧', ' ', "it's"],
];
const invalidNames = ['', 'n'.repeat(256), 'a/b', 'tab\t', '\u0085', 'half \ud83d', '\0'];

export const names = weighted(
  [30, fc.constantFrom(...validNameList)],
  [1, fc.constantFrom(...invalidNames)],
  [1, fc.constant('é'.repeat(255))],
);
export const validNames = fc.constantFrom(...validNameList);

const validTitles = fc.constantFrom(null, '', 'a', 'Étage 2', 'The zebra', 'E\u0301tage', 'ZEBRA');
export const titleInputs = weighted(
  [8, validTitles],
  [1, fc.constantFrom('t'.repeat(256), 'new\nline', '\udc00')],
);
export const textInputs = textsWith(titleInputs);
export const validTexts = textsWith(validTitles);

function textsWith(title: fc.Arbitrary<string | null>) {
  const icon = fc.constantFrom(null, '', '📁');
  const description = fc.constantFrom(null, '', 'several\nlines');
  const properties = fc.constantFrom(null, {}, { size: 3, inner: { list: [1, 'two', null] } });
  return fc.record({ title, icon, description, properties }, { requiredKeys: [] });
}

export const searchTexts = fc.constantFrom(
  ...['a', 'A', 'É', 'e', 'fl', 'Floor', 'floor 1', 'zebra', 'bra', ' zebra ', 'étage', '日', '日本', '100%'],
  ...['x_y', 'k\\s', 'crossing', '👩‍🔧', 'nothing like it', '', '  ', '\u0301'],
  ...[
    'floor zebra',
    'a zebra',
    'zebra floor 1',
    'floor floor',
    'e étage',
    '/Floor 1',
    'Floor 1/Floor 2',
    'fl/fl',
    '/',
  ],
);

export function weighted<Value>(
  ...choices: readonly (readonly [weight: number, arbitrary: fc.Arbitrary<Value>])[]
): fc.Arbitrary<Value> {
  return fc.oneof(...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })));
}
