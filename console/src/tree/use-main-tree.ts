/**
 * Connects the main tree to the session, to the address of the page, and to changes from the server. Saves its expanded
 * folders and scroll position in the session storage of this tab.
 *
 * The tree stays current in three steps: `graph/live.tsx` receives each change from the subscription of the page, `useChanges`
 * passes it on, and `state/tree-loader.ts` applies it in place where it can. Otherwise, the loader marks the level stale and
 * reads its visible rows again.
 */

import { useEffect, useRef, useState, type RefObject } from 'react';
import { toasts } from '../actions/toasts.ts';
import { apiRoot } from '../console-address.ts';
import { useLive, type FolderChange } from '../graph/live.tsx';
import { navigate } from '../router.tsx';
import { onSignOut } from '../session/session-data.ts';
import { useViewer } from '../session/session.tsx';
import { ChangeMarks, describeGoneFolder } from './change-marks.ts';
import { mainTree as tree } from './tree.ts';

type CurrentId = RefObject<string | null>;

/** The session for which the tree was loaded. */
let treeSessionId: string | null = null;

/** Returns the marks of recent changes by other users. */
export function useMainTree(currentId: string | null): ChangeMarks {
  const { status } = useLive();
  const [marks] = useState(() => new ChangeMarks());
  const latestCurrentId = useRef(currentId);
  useSavedView(latestCurrentId);

  // The tree follows the address, also after a click on a link elsewhere.
  useEffect(() => {
    if (latestCurrentId.current === currentId) return;
    latestCurrentId.current = currentId;
    if (currentId !== null) void followAddress(currentId);
    // Otherwise, the previous folder would count as selected by the user.
    else if (tree.focus.selected.size === 1) tree.focus.select(null);
  }, [currentId]);

  useChanges(marks, currentId, latestCurrentId);

  useEffect(() => {
    if (status === 'live' && tree.loader.failure() !== null) tree.loader.retry();
  }, [status]);
  return marks;
}

/** Loads the tree as the viewer left it, and saves its expanded folders and scroll position for the next visit. */
function useSavedView(latestCurrentId: CurrentId): void {
  const { id: viewerId, sessionId } = useViewer();
  const loadedFor = useRef<string | null>(null);
  useEffect(() => {
    let isCleared = false;
    // After a new login of the same user, the tree stays and is only read again.
    if (loadedFor.current === viewerId) {
      treeSessionId = sessionId;
      void tree.load(null);
    } else void restoreView(sessionId, latestCurrentId.current);
    loadedFor.current = viewerId;
    const save = () => {
      const { store, top } = tree;
      if (!isCleared && store.root)
        saveView(sessionId, {
          opened: [...store.expandedIds],
          top: top && { id: top.id, past: top.scrolledBy },
          openId: latestCurrentId.current,
        });
    };
    addEventListener('pagehide', save);
    const stop = onSignOut(() => {
      isCleared = true;
      removeSavedView();
      tree.clear();
    });
    return () => {
      save();
      stop();
      removeEventListener('pagehide', save);
    };
  }, [sessionId, viewerId, latestCurrentId]);
}

/** Applies changes from the server, and leaves the current folder if it is gone. */
function useChanges(marks: ChangeMarks, currentId: string | null, latestCurrentId: CurrentId): void {
  const { id: viewerId, isAdministrator } = useViewer();
  const { listen } = useLive();
  /** The current folder and its ancestors. Still needed when the folder is gone from the store. */
  const pathIds = useRef<readonly string[]>([]);

  useEffect(() => {
    return listen((change) => {
      const { store, loader } = tree;
      const before = change.folderId === null ? undefined : store.folder(change.folderId);
      const parent = before?.parent ? store.folder(before.parent.id) : undefined;
      marks.record(change, { before, parent, viewerId });
      loader.apply(change);
      const text = describeGoneFolder(change, { name: before?.name, isAdministrator });
      leaveGoneFolder(
        change,
        pathIds.current,
        latestCurrentId.current,
        change.by?.id === viewerId ? null : text,
      );
    });
  }, [listen, marks, viewerId, isAdministrator, latestCurrentId]);

  useEffect(() => {
    const updatePath = () => {
      const { current: id } = latestCurrentId;
      if (id !== null && tree.store.folder(id)) pathIds.current = [id, ...tree.store.ancestorIds(id)];
    };
    updatePath();
    return tree.store.subscribe(updatePath);
  }, [currentId, latestCurrentId]);
}

async function restoreView(sessionId: string, currentId: string | null): Promise<void> {
  const { store, focus, loader } = tree;
  if (treeSessionId !== sessionId) tree.clear();
  treeSessionId = sessionId;
  const saved = readSavedView(sessionId);
  for (const id of saved?.opened ?? []) store.expand(id);
  await tree.load(null);
  const { top } = saved ?? {};
  const isTopLoaded =
    top && saved?.openId === currentId && (await loader.reveal(top.id).catch(() => null)) !== null;
  if (currentId !== null) await tree.reveal(currentId);
  if (isTopLoaded) focus.scrollTo(top.id, 'top', top.past);
}

async function followAddress(id: string): Promise<void> {
  const { store, focus } = tree;
  if (store.indexOf(id) === null) {
    await tree.reveal(id);
    return;
  }
  // Opening one of several selected folders keeps the selection.
  if (!focus.selected.has(id)) focus.select(id);
  focus.moveToFolder(id);
}

/** If the current folder or an ancestor is gone, opens the nearest ancestor that is left. */
function leaveGoneFolder(
  { kind, folderId: id, folder }: FolderChange,
  pathIds: readonly string[],
  currentId: string | null,
  text: string | null,
): void {
  if (kind === 'RESYNC' || folder || id === null || pathIds[0] !== currentId) return;
  const index = pathIds.indexOf(id);
  const parentId = index < 0 ? undefined : pathIds[index + 1];
  if (parentId === undefined) return;
  navigate(`/folders/${parentId}`, { replace: true });
  if (text !== null) toasts.add({ tone: 'note', text: `${text} This is the nearest folder above it.` });
}

/** The stored form. Its field names must not change, because a tab may contain data of an earlier version. */
interface SavedTreeView {
  /** The ids of the expanded folders. */
  readonly opened: readonly string[];
  /** The row at the upper edge, and the pixels by which it is scrolled out. */
  readonly top: { readonly id: string; readonly past: number } | null;
  /** The id of the current folder: its page was displayed. */
  readonly openId: string | null;
}

const storageKey = `espalier:tree:${apiRoot}`;
const maxSavedFolders = 500;

function saveView(sessionId: string, { opened, ...others }: SavedTreeView): void {
  try {
    const saved = { sessionId, opened: opened.slice(-maxSavedFolders), ...others };
    sessionStorage.setItem(storageKey, JSON.stringify(saved));
  } catch {
    // Without storage, the next visit starts with a collapsed tree.
  }
}

/** Returns null if nothing was saved in this session. */
function readSavedView(sessionId: string): SavedTreeView | null {
  try {
    const saved = JSON.parse(sessionStorage.getItem(storageKey) ?? 'null') as
      | (SavedTreeView & { sessionId: string })
      | null;
    if (saved?.sessionId === sessionId && Array.isArray(saved.opened)) return saved;
  } catch {
    // Unreadable data counts as missing.
  }
  removeSavedView();
  return null;
}

function removeSavedView(): void {
  try {
    sessionStorage.removeItem(storageKey);
  } catch {
    // Without storage, there is nothing to remove.
  }
}
