/** What is done from the tree, by keys, by the menu or by a button: which dialog is open, and what was cut. */

import { useState } from 'react';
import { toasts, undoLast } from '../../actions/toasts.ts';
import type { FolderRow } from '../../graph/live.tsx';
import { addressOf, navigate } from '../../router.tsx';
import { copyText } from '../../ui/copy.tsx';
import { canTake, rightsOf } from '../edit/folder-rights.ts';
import { moveFolders, type WorkFolder } from '../edit/folder-operations.ts';
import type { TreeCommand } from './tree-keys.ts';
import type { MenuChoice, MenuOffer } from './tree-menu.tsx';
import type { Tree } from '../tree.ts';

export type Asked =
  | { readonly kind: 'create'; readonly parent: WorkFolder }
  | { readonly kind: 'move' | 'delete'; readonly folders: readonly WorkFolder[] };

export function workOf({ id, name, parent }: FolderRow): WorkFolder {
  return { id, name, parentId: parent?.id ?? null };
}

interface TreeWorkOptions {
  readonly tree: Tree;
  readonly rename: (folder: FolderRow) => void;
  readonly showMenu: () => void;
  /** Puts the focus back on the tree. */
  readonly enter: () => void;
}

export function useTreeWork({ tree, rename, showMenu, enter }: TreeWorkOptions) {
  const { store, focus } = tree;
  const [asked, setAsked] = useState<Asked | null>(null);
  const [cut, setCut] = useState<readonly FolderRow[]>([]);

  const create = (folder: FolderRow) => {
    if (rightsOf(store, folder).create) setAsked({ kind: 'create', parent: workOf(folder) });
  };
  const takeAway = (folder: FolderRow, kind: 'move' | 'delete') => {
    const folders = movable(folder);
    if (folders.length > 0) setAsked({ kind, folders: folders.map(workOf) });
  };
  /** Of the chosen ones, none if one of them may not be taken away. */
  const movable = (folder: FolderRow) => {
    const folders = focus.chosen(folder);
    return folders.every((one) => rightsOf(store, one).takeAway) ? folders : [];
  };
  const move = (folders: readonly FolderRow[], target: FolderRow) => {
    if (!canTake(store, target, folders)) return;
    setCut([]);
    void moveFolders(folders.map(workOf), target);
  };

  /** Answers whether there was something to do. */
  const command = (of: TreeCommand): boolean => {
    const { folder } = focus;
    if (of === 'undo') return undoLast();
    if (of === 'leave') {
      const isUsed = cut.length > 0 || focus.selected.size > 1;
      setCut([]);
      if (isUsed) focus.select(folder?.id ?? null);
      return isUsed;
    }
    if (!folder) return false;
    if (of === 'create') create(folder);
    else if (of === 'delete') takeAway(folder, 'delete');
    else if (of === 'cut') setCut(movable(folder));
    else if (of === 'paste') move(cut, folder);
    else if (of === 'menu') showMenu();
    else if (rightsOf(store, folder).rename) rename(folder);
    return true;
  };
  const choose = (folder: FolderRow, choice: MenuChoice) => {
    if (choice === 'open') navigate(`/folders/${folder.id}`);
    else if (choice === 'create') create(folder);
    else if (choice === 'rename') rename(folder);
    else if (choice === 'move' || choice === 'delete') takeAway(folder, choice);
    else {
      const link = location.origin + addressOf(`/folders/${folder.id}`);
      void copy(choice === 'link' ? link : tree.pathOf(folder.id), choice);
    }
  };
  const close = () => {
    setAsked(null);
    enterWhenPossible(enter);
  };
  return { asked, cut, create, move, command, choose, close };
}

/** A dialog that closes lets go of the page, and of the focus, a little later. */
function enterWhenPossible(enter: () => void, frames = 30): void {
  requestAnimationFrame(() => {
    const { activeElement, body } = document;
    if (activeElement !== null && activeElement !== body && !activeElement.closest('[role=dialog]')) return;
    enter();
    if (frames > 0) enterWhenPossible(enter, frames - 1);
  });
}

async function copy(text: string, what: 'link' | 'path'): Promise<void> {
  const isCopied = await copyText(text);
  if (isCopied) toasts.add({ tone: 'done', text: `Copied the ${what}` });
  else toasts.add({ tone: 'failure', text: `The ${what} could not be copied: ${text}` });
}

/** For the menu of a folder: only what one may do, and with several only what is done with several. */
export function offersFor({ store, focus }: Tree, folder: FolderRow): readonly (readonly MenuOffer[])[] {
  const several = focus.chosen(folder).length;
  const rights = rightsOf(store, folder);
  const number = several > 1 ? ` ${several} folders` : '';
  const only = <Item>(isSo: boolean, item: Item): Item[] => (isSo ? [item] : []);
  return [
    several > 1
      ? []
      : [
          { id: 'open', label: 'Open', icon: 'folder', keys: 'Enter' },
          ...only<MenuOffer>(rights.create, {
            id: 'create',
            label: 'New folder…',
            icon: 'plus',
            keys: 'Insert',
          }),
          ...only<MenuOffer>(rights.rename, { id: 'rename', label: 'Rename', icon: 'edit', keys: 'F2' }),
        ],
    rights.takeAway
      ? [
          { id: 'move', label: `Move${number} to…`, icon: 'move' },
          { id: 'delete', label: `Delete${number}…`, icon: 'trash', keys: 'Delete' },
        ]
      : [],
    several > 1
      ? []
      : [
          { id: 'link', label: 'Copy link', icon: 'copy' },
          { id: 'path', label: 'Copy path', icon: 'copy' },
        ],
  ];
}
