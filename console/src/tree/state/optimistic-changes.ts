/**
 * Shows the effect of an action in the tree before the server has confirmed it. Each function returns a rollback, which
 * keeps changes that the server has reported in the meantime.
 */

import type { FolderTexts } from '../../actions/folder-actions.ts';
import type { FolderRow } from '../../graph/live.tsx';
import type { TreeStore } from './tree-store.ts';

type Rollback = () => void;

export function updateTextsOptimistically(store: TreeStore, id: string, texts: FolderTexts): Rollback {
  const before = store.folder(id);
  return before ? upsertOptimistically(store, before, withTexts(before, texts)) : () => undefined;
}

function withTexts(folder: FolderRow, { name, title, icon }: FolderTexts): FolderRow {
  const newName = name ?? folder.name;
  // Without a title of its own, a folder's title is its name.
  const ownTitle = title === undefined ? (folder.title === folder.name ? null : folder.title) : title;
  return {
    ...folder,
    name: newName,
    title: ownTitle ?? newName,
    icon: icon === undefined ? folder.icon : icon,
  };
}

/** Moves a folder, and renames it in the same change. */
export function moveOptimistically(store: TreeStore, id: string, parentId: string, name?: string): Rollback {
  const before = store.folder(id);
  if (!before) return () => undefined;
  const expected = name === undefined ? before : withTexts(before, { name });
  return upsertOptimistically(store, before, { ...expected, parent: { id: parentId } });
}

export function removeOptimistically(store: TreeStore, id: string): Rollback {
  const before = store.folder(id);
  if (!before) return () => undefined;
  const isExpanded = store.expandedIds.has(id);
  const wasConfirmed = store.trackRemoval(id);
  store.remove(id);
  return () => {
    const isGone = wasConfirmed();
    if (!isGone && !store.folder(id)) store.upsert(before);
    if (!isGone && isExpanded) store.expand(id);
    markParentsStale(store, before);
  };
}

function upsertOptimistically(store: TreeStore, before: FolderRow, expected: FolderRow): Rollback {
  store.upsert(expected);
  return () => {
    const now = store.folder(before.id);
    if (now && matchesExpected(now, expected)) {
      const { name, title, icon, parent } = before;
      store.upsert({ ...now, name, title, icon, parent });
    } else markParentsStale(store, before, expected);
  };
}

/** Ignores the child count and the access level, which can change while the version stays the same. */
function matchesExpected(now: FolderRow, expected: FolderRow): boolean {
  return (
    now.version === expected.version &&
    now.name === expected.name &&
    now.title === expected.title &&
    now.icon === expected.icon &&
    now.parent?.id === expected.parent?.id
  );
}

function markParentsStale(store: TreeStore, ...rows: readonly FolderRow[]): void {
  for (const id of new Set(rows.map(({ parent }) => parent?.id))) if (id !== undefined) store.markStale(id);
}
