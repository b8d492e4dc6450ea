/** The tree next to the current folder, with its search field, menu, dialogs and drag preview. */

import { useEffect, useRef, useState, useSyncExternalStore, type RefObject } from 'react';
import { useCommands } from '../actions/palette-commands.ts';
import type { FolderRow } from '../graph/live.tsx';
import { navigate } from '../router.tsx';
import { useSession } from '../session/session.tsx';
import { Button, ContextMenu, IconButton } from '../ui/button.tsx';
import { Name } from '../ui/text.tsx';
import { SelectionBar } from '../ui/selection-bar.tsx';
import { Empty } from '../ui/states.tsx';
import { DeleteDialog } from './edit/delete-dialog.tsx';
import { rightsOf } from './edit/folder-rights.ts';
import { MoveDialog } from './edit/move-dialog.tsx';
import { NewFolderDialog } from './edit/new-folder-dialog.tsx';
import { FolderSearch } from './search/folder-search.tsx';
import { maxSelected } from './state/tree-focus.ts';
import { mainTree as tree } from './tree.ts';
import { useMainTree } from './use-main-tree.ts';
import { TreeLoadState, TreeView } from './view/tree-view.tsx';
import { useDrag, type Drag } from './view/use-drag.ts';
import { useRename } from './view/use-rename.tsx';
import { copyPaths, useTreeActions, type TreeActions } from './view/use-tree-actions.ts';

const { store, focus } = tree;

interface OpenMenu {
  readonly folder: FolderRow;
  readonly at: { readonly x: number; readonly y: number };
}

interface TreePaneProps {
  /** Null for the root. */
  readonly currentId: string | null;
  /** The page of a list is displayed instead of a folder. */
  readonly isListOpen: boolean;
}

export function TreePane({ currentId, isListOpen }: TreePaneProps) {
  const pane = useRef<HTMLElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const { menu, setMenu, showMenu } = useFolderMenu(pane);
  const marks = useMainTree(currentId);
  useSyncExternalStore(marks.subscribe, marks.version);
  useSyncExternalStore(store.subscribe, store.version);

  const enter = () => pane.current?.querySelector<HTMLElement>('[role=tree]')?.focus();
  useFocusAfterSignIn(enter);
  const rename = useRename(store, enter);
  const openId = currentId ?? store.root?.id ?? null;
  const actions = useTreeActions({ tree, currentId: openId, rename: rename.begin, showMenu, enter });
  const { drag, onPointerDown } = useDrag(tree, (folders, target) => void actions.move(folders, target));
  const faintIds = idsOf([...actions.cutFolders, ...actions.movingFolders, ...(drag?.folders ?? [])]);
  useFindShortcut(field);

  const { root } = store;
  const current = (currentId === null ? !isListOpen && root : store.folder(currentId)) || null;
  const displayedFolder = useIsNarrow() && currentId === null ? null : current;
  return (
    <section className="tree-pane" aria-label="Tree of folders" ref={pane}>
      <FolderSearch
        label="Find a folder"
        field={field}
        aside={<NewFolderButton parent={current} onCreate={actions.create} />}
        onPick={(folder) => {
          openFolder(folder);
          enter();
        }}
        onLeave={enter}
      >
        <TreeLoadState tree={tree}>
          <TreeView
            tree={tree}
            label="Folders"
            currentId={displayedFolder?.id ?? null}
            isMultiple
            isFaint={({ id }) => faintIds.has(id)}
            markOf={marks.markOf}
            edit={rename.edit}
            dropTargetId={drag?.target?.id ?? null}
            onOpen={openFolder}
            onCommand={actions.command}
            onMenu={(folder, at) => setMenu({ folder, at })}
            onPointerDown={onPointerDown}
          />
          {root?.folders.totalCount === 0 && <EmptyTree root={root} onCreate={() => actions.create(root)} />}
        </TreeLoadState>
      </FolderSearch>
      {!isListOpen && <TreeSelection currentId={openId} actions={actions} onLeave={enter} />}
      <p className="visually-hidden" role="status">
        {marks.announcement}
      </p>
      {drag && <DragPreview drag={drag} />}
      {menu && <FolderMenu menu={menu} actions={actions} onClose={() => setMenu(null)} />}
      <TreeDialogs actions={actions} />
    </section>
  );
}

function idsOf(folders: readonly { readonly id: string }[]): ReadonlySet<string> {
  return new Set(folders.map(({ id }) => id));
}

const narrowScreen = matchMedia('(max-width: 760px)');

/** A small screen displays no page next to the tree. */
function useIsNarrow(): boolean {
  return useSyncExternalStore(
    (notify) => {
      narrowScreen.addEventListener('change', notify);
      return () => narrowScreen.removeEventListener('change', notify);
    },
    () => narrowScreen.matches,
  );
}

/** The menu of a folder: at the pointer, or by key at the focused row. */
function useFolderMenu(pane: RefObject<HTMLElement | null>) {
  const [menu, setMenu] = useState<OpenMenu | null>(null);
  const showMenu = () => {
    const row = pane.current?.querySelector('[data-focused]')?.getBoundingClientRect();
    if (row && focus.folder) setMenu({ folder: focus.folder, at: { x: row.left + 40, y: row.bottom } });
  };
  return { menu, setMenu, showMenu };
}

interface TreeSelectionProps {
  readonly currentId: string | null;
  readonly actions: TreeActions;
  /** Focuses the tree. */
  readonly onLeave: () => void;
}

/** The number of selected folders, and their actions. */
function TreeSelection({ currentId, actions, onLeave }: TreeSelectionProps) {
  useSyncExternalStore(focus.subscribe, focus.version);
  const folders = focus.selectedFolders;
  const [first] = folders;
  if (!first || !focus.hasOtherSelection(currentId)) return null;
  const mayRemove = folders.every((folder) => rightsOf(store, folder).remove);
  const clear = () => {
    focus.select(null);
    onLeave();
  };
  return (
    <SelectionBar
      label="Selected folders"
      count={folders.length}
      isFull={folders.length === maxSelected}
      isDocked
      onClear={clear}
    >
      <Button size="small" icon="move" isDisabled={!mayRemove} onPress={() => actions.open(first, 'move')}>
        Move to…
      </Button>
      <Button size="small" icon="trash" isDisabled={!mayRemove} onPress={() => actions.open(first, 'delete')}>
        Delete…
      </Button>
      <IconButton label="Copy paths" icon="copy" onPress={() => copyPaths(tree, folders)} />
    </SelectionBar>
  );
}

function openFolder({ id }: { readonly id: string }): void {
  focus.select(id);
  navigate(`/folders/${id}`);
}

/** The sign-in form had the focus and is gone, so the tree takes the focus once the tree is displayed. */
function useFocusAfterSignIn(enter: () => void): void {
  const { hasSignedIn } = useSession();
  const isPending = useRef(hasSignedIn);
  const isDisplayed = store.root !== null;
  useEffect(() => {
    if (!isPending.current || !isDisplayed) return;
    isPending.current = false;
    if (document.activeElement === document.body) enter();
  });
}

/** `/` focuses the search field, except while the user types elsewhere. */
function useFindShortcut(field: RefObject<HTMLInputElement | null>): void {
  useEffect(() => {
    const focusField = (event: KeyboardEvent) => {
      const isTyping = (event.target as HTMLElement).closest?.(
        'input,textarea,select,[contenteditable],[role=dialog]',
      );
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener('keydown', focusField);
    return () => removeEventListener('keydown', focusField);
  }, [field]);
  useCommands([
    {
      id: 'tree.find',
      label: 'Find a folder in the tree',
      group: 'Tree',
      keys: '/',
      run: () => field.current?.focus(),
    },
    {
      id: 'tree.closeAll',
      label: 'Collapse all folders',
      group: 'Tree',
      keywords: 'collapse',
      run: () => tree.collapseAll(),
    },
  ]);
}

interface NewFolderButtonProps {
  readonly parent: FolderRow | null;
  readonly onCreate: (parent: FolderRow) => void;
}

function NewFolderButton({ parent, onCreate }: NewFolderButtonProps) {
  return (
    <IconButton
      label={parent ? `New folder in ${parent.name}` : 'New folder'}
      icon="plus"
      isDisabled={parent === null || !rightsOf(store, parent).create}
      onPress={() => parent && onCreate(parent)}
    />
  );
}

interface FolderMenuProps {
  readonly menu: OpenMenu;
  readonly actions: TreeActions;
  readonly onClose: () => void;
}

function FolderMenu({ menu: { folder, at }, actions, onClose }: FolderMenuProps) {
  return (
    <ContextMenu
      label={`Actions for ${folder.name}`}
      at={at}
      list={() => actions.listMenu(folder)}
      onClose={onClose}
    />
  );
}

function DragPreview({ drag: { folders, target, x, y } }: { drag: Drag }) {
  return (
    <div className="tree-drag" style={{ left: x + 12, top: y + 8 }} aria-hidden="true">
      <Name>{folders.length === 1 ? folders[0]!.name : `${folders.length} folders`}</Name>
      {target && (
        <span className="soft">
          {' '}
          into <Name>{target.name}</Name>
        </span>
      )}
    </div>
  );
}

function TreeDialogs({ actions: { dialog, close } }: { actions: TreeActions }) {
  if (dialog?.kind === 'create') {
    return (
      <NewFolderDialog
        parent={dialog.parent}
        onClose={close}
        onCreated={(id) => navigate(`/folders/${id}`)}
      />
    );
  }
  if (dialog?.kind === 'move') {
    return <MoveDialog folders={dialog.folders} target={dialog.target} onClose={close} />;
  }
  if (dialog?.kind === 'delete') return <DeleteDialog folders={dialog.folders} onClose={close} />;
  return null;
}

function EmptyTree({ root, onCreate }: { root: FolderRow; onCreate: () => void }) {
  return (
    <div className="tree-empty">
      <Empty icon="folder" title="No folders yet">
        {rightsOf(store, root).create ? (
          <Button icon="plus" tone="primary" onPress={onCreate}>
            New folder
          </Button>
        ) : (
          <p>You do not have access to any folder. Ask an administrator for access.</p>
        )}
      </Empty>
    </div>
  );
}
