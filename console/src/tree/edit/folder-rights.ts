/** What may be done with a folder of the tree, by the level that one has on it and on its parent. */

import type { AccessLevel, FolderRow } from '../../graph/live.tsx';
import type { TreeStore } from '../state/tree-store.ts';

export interface FolderRights {
  readonly create: boolean;
  readonly rename: boolean;
  /** Move and delete: it is taken from its parent. */
  readonly takeAway: boolean;
}

function mayWrite(level: AccessLevel | undefined): boolean {
  return level === 'WRITE' || level === 'MANAGE';
}

export function rightsOf(store: TreeStore, folder: FolderRow): FolderRights {
  const canWrite = mayWrite(folder.accessLevel);
  const parent = folder.parent && store.folder(folder.parent.id);
  return { create: canWrite, rename: canWrite, takeAway: canWrite && mayWrite(parent?.accessLevel) };
}

/** Whether all of these may be moved into a folder, and it makes a difference. */
export function canTake(store: TreeStore, target: FolderRow, folders: readonly FolderRow[]): boolean {
  const way = [target.id, ...store.ancestorIds(target.id)];
  return (
    mayWrite(target.accessLevel) &&
    !folders.some(({ id }) => way.includes(id)) &&
    folders.some(({ parent }) => parent?.id !== target.id)
  );
}
