/**
 * Shows in a tree what an action will do before the server has done it; each gives back how to take that back. What the
 * server has told of the folder meanwhile stays.
 */

import type { FolderTexts } from '../../actions/folder-actions.ts';
import type { FolderRow } from '../../graph/live.tsx';
import type { TreeStore } from './tree-store.ts';

type TakeBack = () => void;

export function foreseeTexts(store: TreeStore, id: string, { name, title, icon }: FolderTexts): TakeBack {
  const before = store.folder(id);
  if (!before) return () => undefined;
  const newName = name ?? before.name;
  // The title is the name, unless there is one.
  const ownTitle = title === undefined ? (before.title === before.name ? null : before.title) : title;
  return foreseeRow(store, before, {
    ...before,
    name: newName,
    title: ownTitle ?? newName,
    icon: icon === undefined ? before.icon : icon,
  });
}

export function foreseeMove(store: TreeStore, id: string, parentId: string): TakeBack {
  const before = store.folder(id);
  return before ? foreseeRow(store, before, { ...before, parent: { id: parentId } }) : () => undefined;
}

export function foreseeRemoval(store: TreeStore, id: string): TakeBack {
  const before = store.folder(id);
  if (!before) return () => undefined;
  const isOpen = store.openIds.has(id);
  const wasToldGone = store.trackRemoval(id);
  store.remove(id);
  return () => {
    const isGone = wasToldGone();
    if (!isGone && !store.folder(id)) store.upsert(before);
    if (!isGone && isOpen) store.open(id);
    expireParents(store, before);
  };
}

function foreseeRow(store: TreeStore, before: FolderRow, foreseen: FolderRow): TakeBack {
  store.upsert(foreseen);
  return () => {
    const now = store.folder(before.id);
    if (now && isAsForeseen(now, foreseen)) {
      const { name, title, icon, parent } = before;
      store.upsert({ ...now, name, title, icon, parent });
    } else expireParents(store, before, foreseen);
  };
}

/** How many are inside may have been counted anew; that is no change of the folder itself. */
function isAsForeseen(now: FolderRow, foreseen: FolderRow): boolean {
  return (
    now.version === foreseen.version &&
    now.name === foreseen.name &&
    now.title === foreseen.title &&
    now.icon === foreseen.icon &&
    now.parent?.id === foreseen.parent?.id
  );
}

function expireParents(store: TreeStore, ...rows: readonly FolderRow[]): void {
  for (const id of new Set(rows.map(({ parent }) => parent?.id))) if (id !== undefined) store.markStale(id);
}
