/** The actions of the tree, started by keys, by the menu or by a button. Holds the open dialog and the cut folders. */

import { useState } from 'react';
import { reportFailure } from '../../actions/perform.ts';
import { toasts, undoLast } from '../../actions/toasts.ts';
import type { FolderRow } from '../../graph/live.tsx';
import { describeProblem } from '../../graph/problem.ts';
import { toAddress, navigate } from '../../router.tsx';
import { currentView } from '../../session/view-as.ts';
import { copyText } from '../../ui/copy.tsx';
import { canMoveInto, rightsOf } from '../edit/folder-rights.ts';
import { copyFolder, moveFolders, toFolderRef, type FolderRef } from '../edit/folder-operations.ts';
import { readMovePreview } from '../edit/move-dialog.tsx';
import type { PickedFolder } from '../search/folder-picker.tsx';
import { openTransfer } from '../transfer/transfer.tsx';
import type { TreeCommand } from './tree-keys.ts';
import type { TreeMenuItemId, TreeMenuItem } from './tree-menu.tsx';
import { isCachedFavorite, toggleFavorite } from '../personal-folders.tsx';
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
  const { cut, setCut, dropped, move } = useDirectMoves(tree, (next) => setDialog((open) => open ?? next));

  const create = (folder: FolderRow) => {
    if (rightsOf(store, folder).create) setDialog({ kind: 'create', parent: toFolderRef(folder) });
  };
  const openRemovalDialog = (folder: FolderRow, kind: 'move' | 'delete') => {
    const folders = movable(folder);
    if (folders.length > 0) setDialog({ kind, folders: folders.map(toFolderRef) });
  };
  /** The selected folders, or none if the viewer lacks the right to remove one. */
  const movable = (folder: FolderRow) => {
    const folders = focus.selectionFor(folder);
    return folders.every((each) => rightsOf(store, each).remove) ? folders : [];
  };
  /** Returns whether the command had an effect. */
  const command = (name: TreeCommand): boolean => {
    const { folder } = focus;
    if (name === 'leave') {
      const isUsed = cut.length > 0 || focus.hasSelectionBeside(currentId);
      setCut([]);
      if (isUsed) focus.select(null);
      return isUsed;
    }
    if (name === 'undo') undoLast();
    else if (!folder) return false;
    else if (name === 'create') create(folder);
    else if (name === 'delete') openRemovalDialog(folder, 'delete');
    else if (name === 'cut') setCut(movable(folder));
    else if (name === 'paste') void move(cut, folder);
    else if (name === 'menu') showMenu();
    else if (rightsOf(store, folder).rename) rename(folder);
    return true;
  };
  const choose = (folder: FolderRow, choice: TreeMenuItemId) => {
    if (choice === 'open') navigate(`/folders/${folder.id}`);
    else if (choice === 'create') create(folder);
    else if (choice === 'rename') rename(folder);
    else if (choice === 'move' || choice === 'delete') openRemovalDialog(folder, choice);
    else if (choice === 'duplicate') void copyFolder(toFolderRef(folder));
    else if (choice === 'favorite') void toggleFavorite(folder, !isCachedFavorite(folder.id));
    else if (choice === 'import' || choice === 'export') {
      openTransfer({ kind: choice, folder, onClose: () => enterAfterDialog(enter) });
    } else {
      const link = location.origin + toAddress(`/folders/${folder.id}`);
      void copy(choice === 'link' ? link : tree.pathOf(folder.id), choice);
    }
  };
  const close = () => {
    setDialog(null);
    enterAfterDialog(enter);
  };
  return { dialog, cut, dropped, create, move, command, choose, close };
}

/** Moves by dropping, and by cutting and pasting. A move that changes the access of users is confirmed first. */
function useDirectMoves(tree: Tree, openDialog: (dialog: OpenDialog) => void) {
  const [cut, setCut] = useState<readonly FolderRow[]>([]);
  /** Folders whose move is being checked or performed. */
  const [dropped, setDropped] = useState<readonly FolderRow[]>([]);
  const move = async (folders: readonly FolderRow[], target: FolderRow) => {
    if (!canMoveInto(tree.store, target, folders)) return;
    setCut([]);
    setDropped(folders);
    const refs = folders.map(toFolderRef);
    const { id, name } = target;
    try {
      const { changes, problems } = await readMovePreview(refs, id);
      if (changes?.length === 0 && problems.length === 0) await moveFolders(refs, target);
      else openDialog({ kind: 'move', folders: refs, target: { id, name, path: tree.pathOf(id) } });
    } catch (error) {
      reportFailure(`Cannot move the folders. ${describeProblem(error).text}`);
    } finally {
      setDropped([]);
    }
  };
  return { cut, setCut, dropped, move };
}

export type TreeActions = ReturnType<typeof useTreeActions>;

/** A closing dialog releases the focus some frames later, so this tries again until it has. */
function enterAfterDialog(enter: () => void, frames = 30): void {
  requestAnimationFrame(() => {
    const { activeElement, body } = document;
    if (activeElement !== null && activeElement !== body && !activeElement.closest('[role=dialog]')) return;
    enter();
    if (frames > 0) enterAfterDialog(enter, frames - 1);
  });
}

export function copyPaths(tree: Tree, folders: readonly FolderRow[]): void {
  void copy(folders.map(({ id }) => tree.pathOf(id)).join('\n'), folders.length === 1 ? 'path' : 'paths');
}

async function copy(text: string, what: 'link' | 'path' | 'paths'): Promise<void> {
  const isCopied = await copyText(text);
  if (isCopied) toasts.add({ tone: 'done', text: `Copied the ${what}` });
  else toasts.add({ tone: 'failure', text: `The ${what} could not be copied: ${text}` });
}

/** The menu of a folder. It lists what the viewer may do, and for a selection only actions on several folders. */
export function listMenuItems(
  { store, focus }: Tree,
  folder: FolderRow,
): readonly (readonly TreeMenuItem[])[] {
  const count = focus.selectionFor(folder).length;
  const rights = rightsOf(store, folder);
  const counted = count > 1 ? ` ${count} folders` : '';
  const when = <Item>(isAllowed: boolean, item: Item): Item[] => (isAllowed ? [item] : []);
  return [
    count > 1
      ? []
      : [
          { id: 'open', label: 'Open', icon: 'folder', keys: 'Enter' },
          ...when<TreeMenuItem>(rights.create, {
            id: 'create',
            label: 'New folder…',
            icon: 'plus',
            keys: 'Insert',
          }),
          ...when<TreeMenuItem>(rights.rename, { id: 'rename', label: 'Rename', icon: 'edit', keys: 'F2' }),
        ],
    [
      ...when<TreeMenuItem>(rights.duplicate && count === 1, {
        id: 'duplicate',
        label: 'Duplicate',
        icon: 'copy',
      }),
      ...when<TreeMenuItem>(rights.remove, { id: 'move', label: `Move${counted} to…`, icon: 'move' }),
      ...when<TreeMenuItem>(rights.remove, {
        id: 'delete',
        label: `Delete${counted}…`,
        icon: 'trash',
        keys: 'Delete',
      }),
    ],
    count > 1
      ? []
      : [
          ...when<TreeMenuItem>(rights.create, { id: 'import', label: 'Import…', icon: 'upload' }),
          { id: 'export', label: 'Export…', icon: 'download' },
        ],
    count > 1
      ? []
      : [
          ...when<TreeMenuItem>(!currentView, {
            id: 'favorite',
            label: isCachedFavorite(folder.id) ? 'Remove from favorites' : 'Add to favorites',
            icon: 'star',
          }),
          { id: 'link', label: 'Copy link', icon: 'copy' },
          { id: 'path', label: 'Copy path', icon: 'copy' },
        ],
  ];
}
