/** The actions that a viewer may perform on a folder, from the access levels on it and on its parent. */

import type { AccessLevel, FolderRow } from '../../graph/live.tsx';
import { currentView } from '../../session/view-as.ts';
import type { TreeStore } from '../state/tree-store.ts';

interface FolderRights {
  readonly create: boolean;
  readonly rename: boolean;
  /** A copy needs only the right to read, and to write into the parent. */
  readonly duplicate: boolean;
  /** Move and delete, which also change the parent. */
  readonly remove: boolean;
}

/** A view as another user is read only. */
function mayWrite(level: AccessLevel | undefined): boolean {
  return (level === 'WRITE' || level === 'MANAGE') && !currentView;
}

/** The root has no parent. */
export function rightsAt(level: AccessLevel, parentLevel: AccessLevel | undefined): FolderRights {
  const canWrite = mayWrite(level);
  const canWriteParent = mayWrite(parentLevel);
  return {
    create: canWrite,
    rename: canWrite,
    duplicate: level !== 'NONE' && canWriteParent,
    remove: canWrite && canWriteParent,
  };
}

export function rightsOf(store: TreeStore, { accessLevel, parent }: FolderRow): FolderRights {
  return rightsAt(accessLevel, parent ? store.folder(parent.id)?.accessLevel : undefined);
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
