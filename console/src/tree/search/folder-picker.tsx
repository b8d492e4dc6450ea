/** A field that picks a folder by browsing the tree or by searching. */

import { useEffect, useId, useRef, useState } from 'react';
import { useLive, type FolderRow } from '../../graph/live.tsx';
import { FolderSearch } from './folder-search.tsx';
import { TreeLoadState, TreeView } from '../view/tree-view.tsx';
import { Tree } from '../tree.ts';
import { formatPath, type FolderMatch } from './use-folder-search.ts';

export interface PickedFolder {
  readonly id: string;
  readonly name: string;
  readonly path: string;
}

interface FolderPickerProps {
  readonly label: string;
  readonly value: PickedFolder | null;
  /** These folders and their descendants cannot be picked. */
  readonly excludedIds?: readonly string[];
  readonly autoFocus?: boolean;
  readonly onChange: (folder: PickedFolder) => void;
}

export function FolderPicker({ label, value, excludedIds = [], autoFocus, onChange }: FolderPickerProps) {
  const [tree] = useState(() => new Tree());
  const labelId = useId();
  const body = useRef<HTMLDivElement>(null);
  const { store, focus, loader } = tree;
  const chosenId = value?.id ?? null;
  useLiveTree(tree, chosenId);

  const isExcluded = (ids: readonly string[]) => ids.some((id) => excludedIds.includes(id));
  const canPick = ({ id, accessLevel }: FolderRow) =>
    accessLevel !== 'NONE' && !isExcluded([id, ...store.ancestorIds(id)]);
  const pick = (folder: FolderRow) => {
    if (canPick(folder)) onChange({ id: folder.id, name: folder.name, path: tree.pathOf(folder.id) });
  };
  const pickMatch = (folder: FolderMatch) => {
    onChange({ id: folder.id, name: folder.name, path: formatPath(folder) });
    focus.moveToFolder(folder.id, 'middle');
    void loader.reveal(folder.id).catch(() => undefined);
    enter();
  };
  const enter = () => body.current?.querySelector<HTMLElement>('[role=tree]')?.focus();
  return (
    <div className="field">
      <span className="label" id={labelId}>
        {label}
      </span>
      <div className="folder-picker" role="group" aria-labelledby={labelId} ref={body}>
        <FolderSearch
          label="Find a folder"
          autoFocus={autoFocus}
          canPick={({ id, ancestors }) => !isExcluded([id, ...ancestors.map((ancestor) => ancestor.id)])}
          onPick={pickMatch}
          onLeave={enter}
        >
          <TreeLoadState tree={tree}>
            <TreeView
              tree={tree}
              label={label}
              currentId={chosenId}
              isFaint={(folder) => !canPick(folder)}
              onOpen={pick}
            />
          </TreeLoadState>
        </FolderSearch>
      </div>
      <p className="hint" aria-live="polite">
        {value ? `Selected: ${value.path}` : 'No folder is selected.'}
      </p>
    </div>
  );
}

/** Loads a tree with a folder revealed, and keeps it current. */
function useLiveTree(tree: Tree, revealedId: string | null): void {
  const { listen } = useLive();
  const initialId = useRef(revealedId);
  useEffect(() => {
    void tree.load(initialId.current);
    const stop = listen((change) => tree.loader.apply(change));
    return () => {
      stop();
      tree.clear();
    };
  }, [tree, listen]);
}
