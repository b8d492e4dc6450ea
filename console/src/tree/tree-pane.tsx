/** The tree beside the open folder. */

import { useEffect, useRef, useState, useSyncExternalStore } from 'react';
import { useCommands } from '../actions/commands.ts';
import type { FolderRow } from '../graph/live.tsx';
import { navigate } from '../router.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { Empty } from '../ui/states.tsx';
import { DeleteDialog } from './edit/delete-dialog.tsx';
import { FolderSearch } from './search/folder-search.tsx';
import { rightsOf } from './edit/folder-rights.ts';
import { MoveDialog } from './edit/move-dialog.tsx';
import { NewFolderDialog } from './edit/new-folder-dialog.tsx';
import { TreeMenu } from './view/tree-menu.tsx';
import { TreeState } from './view/tree-view.tsx';
import { TreeView } from './view/tree-view.tsx';
import { shownTree as tree } from './tree.ts';
import { useDrag } from './view/use-drag.ts';
import { useRename } from './view/use-rename.tsx';
import { useShownTree } from './use-main-tree.ts';
import { offersFor, useTreeWork } from './view/use-tree-actions.ts';

const { store, focus } = tree;

interface OpenMenu {
  readonly folder: FolderRow;
  readonly at: { readonly x: number; readonly y: number };
}

export function TreePane({ openId }: { openId: string | null }) {
  const pane = useRef<HTMLElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const [menu, setMenu] = useState<OpenMenu | null>(null);
  const marks = useShownTree(openId);
  useSyncExternalStore(marks.subscribe, marks.version);
  useSyncExternalStore(store.subscribe, store.version);

  const enter = () => pane.current?.querySelector<HTMLElement>('[role=tree]')?.focus();
  const rename = useRename(store, enter);
  const showMenu = () => {
    const row = pane.current?.querySelector('[data-focused]')?.getBoundingClientRect();
    if (row && focus.folder) setMenu({ folder: focus.folder, at: { x: row.left + 40, y: row.bottom } });
  };
  const work = useTreeWork({ tree, rename: rename.begin, showMenu, enter });
  const { drag, onPointerDown } = useDrag(tree, work.move);
  const moving = new Set([...work.cut, ...(drag?.folders ?? [])].map(({ id }) => id));

  useEffect(() => {
    const find = (event: KeyboardEvent) => {
      const isTyping = (event.target as HTMLElement).closest?.(
        'input,textarea,select,[contenteditable],[role=dialog]',
      );
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      field.current?.focus();
    };
    addEventListener('keydown', find);
    return () => removeEventListener('keydown', find);
  }, []);
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
      label: 'Close all folders of the tree',
      group: 'Tree',
      words: 'collapse',
      run: () => tree.closeAll(),
    },
  ]);

  const open = ({ id }: { readonly id: string }) => {
    focus.select(id);
    navigate(`/folders/${id}`);
  };
  const { root } = store;
  const current = (openId === null ? root : store.folder(openId)) ?? null;
  const canCreate = current !== null && rightsOf(store, current).create;
  return (
    <section className="tree-pane" aria-label="Tree of folders" ref={pane}>
      <FolderSearch
        label="Find a folder"
        field={field}
        aside={
          <IconButton
            label={current ? `New folder in ${current.name}` : 'New folder'}
            icon="plus"
            isDisabled={!canCreate}
            onPress={() => current && work.create(current)}
          />
        }
        onPick={(folder) => {
          open(folder);
          enter();
        }}
        onLeave={enter}
      >
        <TreeState tree={tree}>
          <TreeView
            tree={tree}
            label="Folders"
            currentId={current?.id ?? null}
            isMultiple
            isFaint={({ id }) => moving.has(id)}
            markOf={marks.markOf}
            edit={rename.edit}
            targetId={drag?.target?.id ?? null}
            onOpen={open}
            onCommand={work.command}
            onMenu={(folder, at) => setMenu({ folder, at })}
            onPointerDown={onPointerDown}
          />
          {root?.folders.totalCount === 0 && <NothingHere root={root} onCreate={() => work.create(root)} />}
        </TreeState>
      </FolderSearch>
      <p className="visually-hidden" role="status">
        {marks.told}
      </p>
      {drag && (
        <div className="tree-drag" style={{ left: drag.x + 12, top: drag.y + 8 }} aria-hidden="true">
          {drag.folders.length === 1 ? drag.folders[0]!.name : `${drag.folders.length} folders`}
          {drag.target && <span className="soft"> into {drag.target.name}</span>}
        </div>
      )}
      {menu && (
        <TreeMenu
          label={`Actions for ${menu.folder.name}`}
          at={menu.at}
          offers={offersFor(tree, menu.folder)}
          onChoose={(choice) => work.choose(menu.folder, choice)}
          onClose={() => setMenu(null)}
        />
      )}
      {work.asked?.kind === 'create' && (
        <NewFolderDialog
          parent={work.asked.parent}
          onClose={work.close}
          onMade={(id) => navigate(`/folders/${id}`)}
        />
      )}
      {work.asked?.kind === 'move' && <MoveDialog folders={work.asked.folders} onClose={work.close} />}
      {work.asked?.kind === 'delete' && <DeleteDialog folders={work.asked.folders} onClose={work.close} />}
    </section>
  );
}

function NothingHere({ root, onCreate }: { root: FolderRow; onCreate: () => void }) {
  return (
    <div className="tree-empty">
      <Empty icon="folder" title="Nothing here yet">
        {rightsOf(store, root).create ? (
          <Button icon="plus" tone="primary" onPress={onCreate}>
            New folder
          </Button>
        ) : (
          <p>No folder was shared with you. Ask an administrator for access.</p>
        )}
      </Empty>
    </div>
  );
}
