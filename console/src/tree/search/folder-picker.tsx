/** A field that picks a folder by browsing the tree or by searching. */

import { useEffect, useId, useRef, useState } from 'react';
import { useLive, type FolderRow } from '../../graph/live.tsx';
import { Name } from '../../ui/text.tsx';
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
  readonly picked: PickedFolder | null;
  /** These folders and their descendants cannot be picked. */
  readonly excludedIds?: readonly string[];
  readonly autoFocus?: boolean;
  readonly onPick: (folder: PickedFolder) => void;
}

export function FolderPicker({ label, picked, excludedIds = [], autoFocus, onPick }: FolderPickerProps) {
  const [tree] = useState(() => new Tree());
  const labelId = useId();
  const body = useRef<HTMLDivElement>(null);
  const { store, focus, loader } = tree;
  const pickedId = picked?.id ?? null;
  useLiveTree(tree, pickedId);

  const isExcluded = (ids: readonly string[]) => ids.some((id) => excludedIds.includes(id));
  const canPick = ({ id, accessLevel }: FolderRow) =>
    accessLevel !== 'NONE' && !isExcluded([id, ...store.ancestorIds(id)]);
  const focusTree = () => body.current?.querySelector<HTMLElement>('[role=tree]')?.focus();
  const pick = (folder: FolderRow) => {
    if (canPick(folder)) onPick({ id: folder.id, name: folder.name, path: tree.pathOf(folder.id) });
  };
  const pickMatch = (folder: FolderMatch) => {
    onPick({ id: folder.id, name: folder.name, path: formatPath(folder) });
    focus.moveToFolder(folder.id, 'middle');
    void loader.reveal(folder.id).catch(() => undefined);
    focusTree();
  };
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
          onLeave={focusTree}
        >
          <TreeLoadState tree={tree}>
            <TreeView
              tree={tree}
              label={label}
              currentId={pickedId}
              isFaint={(folder) => !canPick(folder)}
              onOpen={pick}
            />
          </TreeLoadState>
        </FolderSearch>
      </div>
      <p className="hint" aria-live="polite">
        <Name>{picked ? `Selected: ${picked.path}` : 'No folder is selected.'}</Name>
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
