/** What a change of the server's tree means for the tree that is shown. Applying one twice does no harm. */

import type { FolderChange } from '../graph/live.tsx';
import type { TreeStore } from './tree-store.ts';

export function applyChange(
  store: TreeStore,
  { kind, folderId: id, folder, oldParent, at }: FolderChange,
): void {
  if (kind === 'RESYNC') {
    if (store.root) store.expireInside(store.root.id);
    return;
  }
  if (id === null) return;
  const before = store.folder(id);
  if (!folder) {
    store.toldGone(id);
    return;
  }
  if (!before && oldParent) store.expire(oldParent.id);
  store.take(folder);
  if (kind === 'IMPORT') store.expire(id);
  // What is inside may be other folders than before, or be seen with other rights: also if these have come and gone again.
  else if (before && (kind !== 'UPDATE' || at === null || before.accessLevel !== folder.accessLevel)) {
    store.expireInside(id);
  }
}
