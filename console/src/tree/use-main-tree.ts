/** The tree beside the open folder over its life: as it was left, following the address, and the changes of others. */

import { useEffect, useRef, useState } from 'react';
import { toasts } from '../actions/toasts.ts';
import { useLive, type FolderChange } from '../graph/live.tsx';
import { navigate } from '../router.tsx';
import { onSignOut } from '../session/session-data.ts';
import { useViewer } from '../session/session.tsx';
import { goneText } from './change-marks.ts';
import { TreeMarks } from './change-marks.ts';
import { forgetMemory, keepMemory, readMemory } from './saved-tree-view.ts';
import { shownTree as tree } from './tree.ts';

let shownSession: string | null = null;

/** What others have done just now. */
export function useShownTree(openId: string | null): TreeMarks {
  const { id: viewerId, sessionId, isAdministrator } = useViewer();
  const { listen, status } = useLive();
  const [marks] = useState(() => new TreeMarks());
  const opened = useRef(openId);
  const way = useRef<readonly string[]>([]);
  const beganFor = useRef<string | null>(null);

  useEffect(() => {
    let isForgotten = false;
    // Whoever signs in again after their session has ended finds the tree as it is.
    if (beganFor.current === viewerId) {
      shownSession = sessionId;
      void tree.begin(null);
    } else void begin(sessionId, opened.current);
    beganFor.current = viewerId;
    const keep = () => {
      const { store, top } = tree;
      if (!isForgotten && store.root)
        keepMemory(sessionId, { opened: [...store.openIds], top, openId: opened.current });
    };
    addEventListener('pagehide', keep);
    const stop = onSignOut(() => {
      isForgotten = true;
      forgetMemory();
      tree.clear();
    });
    return () => {
      keep();
      stop();
      removeEventListener('pagehide', keep);
    };
  }, [sessionId, viewerId]);

  // The address leads the tree, also when it is changed by a link elsewhere.
  useEffect(() => {
    if (opened.current === openId) return;
    opened.current = openId;
    if (openId !== null) void follow(openId);
  }, [openId]);

  useEffect(() => {
    return listen((change) => {
      const { store, loader } = tree;
      const before = change.folderId === null ? undefined : store.folder(change.folderId);
      const parent = before?.parent ? store.folder(before.parent.id) : undefined;
      marks.note(change, { before, parent, viewerId });
      loader.apply(change);
      const text = goneText(change, { name: before?.name, isAdministrator });
      leaveGone(change, way.current, opened.current, change.by?.id === viewerId ? null : text);
    });
  }, [listen, marks, viewerId, isAdministrator]);

  // Also for when it is not there any more.
  useEffect(() => {
    const note = () => {
      const { current: id } = opened;
      if (id !== null && tree.store.folder(id)) way.current = [id, ...tree.store.ancestorIds(id)];
    };
    note();
    return tree.store.subscribe(note);
  }, [openId]);

  useEffect(() => {
    if (status === 'live' && tree.loader.failure() !== null) tree.loader.retry();
  }, [status]);
  return marks;
}

async function begin(sessionId: string, openId: string | null): Promise<void> {
  const { store, focus, loader } = tree;
  if (shownSession !== sessionId) tree.clear();
  shownSession = sessionId;
  const memory = readMemory(sessionId);
  for (const id of memory?.opened ?? []) store.open(id);
  await tree.begin(null);
  const { top } = memory ?? {};
  if (top && memory?.openId === openId && (await loader.reveal(top.id).catch(() => null))) {
    focus.select(openId);
    if (openId !== null) focus.moveToFolder(openId);
    focus.show(top.id, 'top', top.past);
  } else if (openId !== null) await tree.reveal(openId);
}

async function follow(id: string): Promise<void> {
  const { store, focus } = tree;
  if (store.indexOf(id) === null) {
    await tree.reveal(id);
    return;
  }
  // One of several that are selected is opened without letting go of the others.
  if (!focus.selected.has(id)) focus.select(id);
  focus.moveToFolder(id);
}

/** The open folder, or one above it, is not there any more: what is left of the way to it is opened. */
function leaveGone(
  { kind, folderId: id, folder }: FolderChange,
  way: readonly string[],
  openId: string | null,
  text: string | null,
): void {
  if (kind === 'RESYNC' || folder || id === null || way[0] !== openId) return;
  const at = way.indexOf(id);
  const left = at < 0 ? undefined : way[at + 1];
  if (left === undefined) return;
  navigate(`/folders/${left}`, { replace: true });
  if (text !== null) toasts.add({ tone: 'note', text: `${text} This is the folder that it was in.` });
}
