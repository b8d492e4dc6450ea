/**
 * Shows the effect of an action in the tree before the server has confirmed it. Each function returns a rollback, which
 * keeps changes that the server has reported in the meantime.
 */

import type { FolderTexts } from '../../actions/folder-actions.ts';
import type { FolderRow } from '../../graph/live.tsx';
import type { TreeStore } from './tree-store.ts';

type Rollback = () => void;

export function updateTextsOptimistically(
  store: TreeStore,
  id: string,
  { name, title, icon }: FolderTexts,
): Rollback {
  const before = store.folder(id);
  if (!before) return () => undefined;
  const newName = name ?? before.name;
  // Without a title of its own, a folder's title is its name.
  const ownTitle = title === undefined ? (before.title === before.name ? null : before.title) : title;
  return upsertOptimistically(store, before, {
    ...before,
    name: newName,
    title: ownTitle ?? newName,
    icon: icon === undefined ? before.icon : icon,
  });
}

export function moveOptimistically(store: TreeStore, id: string, parentId: string): Rollback {
  const before = store.folder(id);
  return before
    ? upsertOptimistically(store, before, { ...before, parent: { id: parentId } })
    : () => undefined;
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
