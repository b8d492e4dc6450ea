/** The actions of the tree, started by keys, by the menu or by a button. Holds the open dialog and the cut folders. */

import { useState } from 'react';
import { reportFailure } from '../../actions/perform.ts';
import { undoLast } from '../../actions/toasts.ts';
import type { FolderRow } from '../../graph/live.tsx';
import { describeProblem } from '../../graph/problem.ts';
import type { MenuAction, MenuGroups } from '../../ui/button.tsx';
import {
  copyLines,
  listFolderActions,
  type FolderAction,
  type FolderDialogKind,
  type FolderMenuOptions,
} from '../edit/folder-menu.ts';
import { canMoveInto, rightsOf } from '../edit/folder-rights.ts';
import { moveFolders, toFolderRef, type FolderRef } from '../edit/folder-operations.ts';
import { readMovePreview } from '../edit/move-dialog.tsx';
import type { PickedFolder } from '../search/folder-picker.tsx';
import type { TreeCommand } from './tree-keys.ts';
import type { Tree } from '../tree.ts';

type OpenDialog =
  | { readonly kind: 'create'; readonly parent: FolderRef }
  | { readonly kind: 'delete'; readonly folders: readonly FolderRef[] }
  | {
      readonly kind: 'move';
      readonly folders: readonly FolderRef[];
      /** The folder into which the folders were dropped or pasted. */
      readonly target?: PickedFolder;
    };

interface TreeActionsOptions {
  readonly tree: Tree;
  /** The folder whose page is displayed. */
  readonly currentId: string | null;
  readonly rename: (folder: FolderRow) => void;
  readonly showMenu: () => void;
  /** Focuses the tree. */
  readonly enter: () => void;
}

export function useTreeActions({ tree, currentId, rename, showMenu, enter }: TreeActionsOptions) {
  const { store, focus } = tree;
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const { cutFolders, setCutFolders, movingFolders, move } = useDirectMoves(tree, (next) =>
    setDialog((open) => open ?? next),
  );

  const create = (folder: FolderRow) => {
    if (rightsOf(store, folder).create) setDialog({ kind: 'create', parent: toFolderRef(folder) });
  };
  const openRemovalDialog = (folder: FolderRow, kind: 'move' | 'delete') => {
    const folders = listRemovable(folder);
    if (folders.length > 0) setDialog({ kind, folders: folders.map(toFolderRef) });
  };
  /** Returns the selected folders, or none if the viewer lacks the right to remove one. */
  const listRemovable = (folder: FolderRow) => {
    const folders = focus.selectionFor(folder);
    return folders.every((each) => rightsOf(store, each).remove) ? folders : [];
  };
  /** Returns whether the command had an effect. */
  const command = (name: TreeCommand): boolean => {
    const { folder } = focus;
    if (name === 'leave') {
      const isUsed = cutFolders.length > 0 || focus.hasOtherSelection(currentId);
      setCutFolders([]);
      if (isUsed) focus.select(null);
      return isUsed;
    }
    if (name === 'undo') undoLast();
    else if (!folder) return false;
    else if (name === 'create') create(folder);
    else if (name === 'delete') openRemovalDialog(folder, 'delete');
    else if (name === 'cut') setCutFolders(listRemovable(folder));
    else if (name === 'paste') void move(cutFolders, folder);
    else if (name === 'menu') showMenu();
    else if (rightsOf(store, folder).rename) rename(folder);
    return true;
  };
  const open = (folder: FolderRow, kind: FolderDialogKind) => {
    if (kind === 'create') create(folder);
    else if (kind === 'rename') rename(folder);
    else openRemovalDialog(folder, kind);
  };
  const listMenu = (folder: FolderRow) =>
    listTreeMenu(tree, folder, {
      open: (kind) => open(folder, kind),
      onClose: () => enterAfterDialog(enter),
    });
  const close = () => {
    setDialog(null);
    enterAfterDialog(enter);
  };
  return { dialog, cutFolders, movingFolders, create, move, command, open, listMenu, close };
}

/** Moves by dropping, and by cutting and pasting. A move that changes the access of users is confirmed first. */
function useDirectMoves(tree: Tree, openDialog: (dialog: OpenDialog) => void) {
  const [cutFolders, setCutFolders] = useState<readonly FolderRow[]>([]);
  /** Folders whose move is being checked or performed. */
  const [movingFolders, setMovingFolders] = useState<readonly FolderRow[]>([]);
  const move = async (folders: readonly FolderRow[], target: FolderRow) => {
    if (!canMoveInto(tree.store, target, folders)) return;
    setCutFolders([]);
    setMovingFolders(folders);
    const refs = folders.map(toFolderRef);
    const { id, name } = target;
    try {
      const { changes, problems } = await readMovePreview(refs, id);
      if (changes?.length === 0 && problems.length === 0) await moveFolders(refs, target);
      else openDialog({ kind: 'move', folders: refs, target: { id, name, path: tree.pathOf(id) } });
    } catch (error) {
      reportFailure(`Cannot move the folders. ${describeProblem(error).text}`);
    } finally {
      setMovingFolders([]);
    }
  };
  return { cutFolders, setCutFolders, movingFolders, move };
}

export type TreeActions = ReturnType<typeof useTreeActions>;

/** Retries until the tree has the focus, because a closing dialog releases the focus some frames later. */
function enterAfterDialog(enter: () => void, frames = 30): void {
  requestAnimationFrame(() => {
    const { activeElement, body } = document;
    if (activeElement !== null && activeElement !== body && !activeElement.closest('[role=dialog]')) return;
    enter();
    if (frames > 0) enterAfterDialog(enter, frames - 1);
  });
}

const keys: Partial<Record<FolderAction['id'], string>> = {
  open: 'Enter',
  create: 'Insert',
  rename: 'F2',
  delete: 'Delete',
};

/** The menu of a folder. For a selection, it lists only actions on several folders. */
function listTreeMenu(tree: Tree, folder: FolderRow, options: FolderMenuOptions): MenuGroups {
  const { store, focus } = tree;
  const { parent, accessLevel } = folder;
  const parentLevel = parent ? store.folder(parent.id)?.accessLevel : undefined;
  const path = tree.pathOf(folder.id);
  const groups = listFolderActions({ ...toFolderRef(folder), path, accessLevel, parentLevel }, options);
  const count = focus.selectionFor(folder).length;
  const withKeys = (action: FolderAction): MenuAction => {
    const shortcut = keys[action.id];
    return shortcut === undefined ? action : { ...action, keys: shortcut };
  };
  if (count === 1) return groups.map((group) => group.map(withKeys));
  const several = groups
    .flat()
    .flatMap((action) => (action.labelFor ? [{ ...action, label: action.labelFor(count) }] : []));
  return [several.map(withKeys)];
}

export function copyPaths(tree: Tree, folders: readonly FolderRow[]): void {
  void copyLines(
    'path',
    folders.map(({ id }) => tree.pathOf(id)),
  );
}
