/** The tree, and the folder that is open in it: side by side, or one of them on a small screen. */

import { useEffect, type CSSProperties } from 'react';
import { toasts } from '../actions/toasts.ts';
import { addressOf, usePlace } from '../router.tsx';
import { TreePane } from '../tree/tree-pane.tsx';
import { Divider, useDividerPosition } from '../ui/divider.tsx';
import { drafts } from './details/draft-store.ts';
import { FolderPage } from './folder-page.tsx';
import './folders.css';

export function FoldersScreen() {
  const id = usePlace().parts[1] ?? null;
  const width = useDividerPosition('tree', { min: 200, max: 640, initial: 320 });
  useEffect(() => tellUnsaved, []);
  return (
    <main
      className="folders-screen"
      data-open={id === null ? undefined : 'folder'}
      style={{ '--tree-width': `${width.value}px` } as CSSProperties}
    >
      <div className="folders-tree" id="folders-tree">
        <TreePane openId={id} />
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

/** To whoever goes to another screen; not to who signs in instead. */
function tellUnsaved(): void {
  if (location.pathname.startsWith(addressOf('/folders'))) return;
  for (const { folderName, isDirty } of drafts.read()) {
    if (!isDirty) continue;
    const text = `Your changes of “${folderName}” are not saved yet. They are kept on its page.`;
    toasts.add({ tone: 'note', text });
  }
}
