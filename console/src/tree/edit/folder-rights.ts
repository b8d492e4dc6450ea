/** The actions that a viewer may perform on a folder of the tree, from the access levels on it and on its parent. */

import type { AccessLevel, FolderRow } from '../../graph/live.tsx';
import type { TreeStore } from '../state/tree-store.ts';

interface FolderRights {
  readonly create: boolean;
  readonly rename: boolean;
  /** Move and delete, which also change the parent. */
  readonly remove: boolean;
}

function mayWrite(level: AccessLevel | undefined): boolean {
  return level === 'WRITE' || level === 'MANAGE';
}

export function rightsOf(store: TreeStore, folder: FolderRow): FolderRights {
  const canWrite = mayWrite(folder.accessLevel);
  const parent = folder.parent && store.folder(folder.parent.id);
  return { create: canWrite, rename: canWrite, remove: canWrite && mayWrite(parent?.accessLevel) };
}

/** Returns whether all these folders can move into the target, and at least one is not there yet. */
export function canMoveInto(store: TreeStore, target: FolderRow, folders: readonly FolderRow[]): boolean {
  const pathIds = [target.id, ...store.ancestorIds(target.id)];
  return (
    mayWrite(target.accessLevel) &&
    !folders.some(({ id }) => pathIds.includes(id)) &&
    folders.some(({ parent }) => parent?.id !== target.id)
  );
}
