/** The tree and the current folder, side by side. Small screens show only one. */

import { useEffect, type CSSProperties } from 'react';
import { toasts } from '../actions/toasts.ts';
import { toAddress, useLocation } from '../router.tsx';
import { TreePane } from '../tree/tree-pane.tsx';
import { Divider, useDividerPosition } from '../ui/divider.tsx';
import { drafts } from './details/draft-store.ts';
import { FolderPage } from './folder-page.tsx';
import './folders.css';

export function FoldersScreen() {
  const id = useLocation().parts[1] ?? null;
  const width = useDividerPosition('tree', { min: 200, max: 640, initial: 320 });
  useEffect(() => remindOfDrafts, []);
  return (
    <main
      className="folders-screen"
      data-open={id === null ? undefined : 'folder'}
      style={{ '--tree-width': `${width.value}px` } as CSSProperties}
    >
      <div className="folders-tree" id="folders-tree">
        <TreePane currentId={id} />
      </div>
      <Divider
        className="folders-split"
        position={width}
        unit="px"
        step={16}
        label="Width of the tree"
        controls="folders-tree"
      />
      <FolderPage id={id} />
    </main>
  );
}

/** Reminds of unsaved drafts when another screen opens, but not after a sign-in on this one. */
function remindOfDrafts(): void {
  if (location.pathname.startsWith(toAddress('/folders'))) return;
  for (const { folderName, isDirty } of drafts.read()) {
    if (!isDirty) continue;
    const text = `Your changes to “${folderName}” are not saved. They remain on its page.`;
    toasts.add({ tone: 'note', text });
  }
}
