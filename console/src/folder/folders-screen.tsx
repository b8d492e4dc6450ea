/** The tree and the current folder, side by side. Small screens show only one. */

import { lazy, Suspense, useEffect, type CSSProperties } from 'react';
import { toasts } from '../actions/toasts.ts';
import { Link, toAddress, useLocation } from '../router.tsx';
import { useViewer } from '../session/session.tsx';
import { listsFor, useLanding } from '../tree/personal-folders.tsx';
import { Transfers } from '../tree/transfer/transfer.tsx';
import { TreePane } from '../tree/tree-pane.tsx';
import { Icon } from '../ui/icons.tsx';
import { Loading } from '../ui/states.tsx';
import { Divider, useDividerPosition } from '../ui/divider.tsx';
import { drafts } from './details/draft-store.ts';
import { FolderPage } from './folder-page.tsx';
import './folders.css';

/** Its table is not part of the first load. */
const FolderListPage = lazy(async () => ({
  default: (await import('./folder-list-page.tsx')).FolderListPage,
}));

export function FoldersScreen() {
  const segment = useLocation().parts[1] ?? null;
  const lists = listsFor(useViewer());
  const list = lists.find(({ kind }) => kind === segment);
  const id = list ? null : segment;
  useLanding(segment === null);
  const width = useDividerPosition('tree', { min: 200, max: 640, initial: 320 });
  useEffect(() => remindOfDrafts, []);
  return (
    <main
      className="folders-screen"
      data-open={segment === null ? undefined : 'folder'}
      style={{ '--tree-width': `${width.value}px` } as CSSProperties}
    >
      <div className="folders-tree" id="folders-tree">
        <h1 className="visually-hidden folders-heading">Folders</h1>
        <nav className="folder-lists" aria-label="Your folders">
          {lists.map(({ kind, label, shortLabel = label, icon }) => (
            <Link
              key={kind}
              to={`/folders/${kind}`}
              aria-label={label}
              aria-current={kind === segment ? 'page' : undefined}
            >
              <Icon name={icon} />
              {shortLabel}
            </Link>
          ))}
        </nav>
        <TreePane currentId={id} isListOpen={list !== undefined} />
      </div>
      <Divider
        className="folders-split"
        position={width}
        unit="px"
        step={16}
        label="Width of the tree"
        controls="folders-tree"
      />
      {list ? (
        <Suspense fallback={<Loading lines={6} />}>
          <FolderListPage key={list.kind} list={list} />
        </Suspense>
      ) : (
        <FolderPage id={id} />
      )}
      <Transfers />
    </main>
  );
}

/** Reminds the user of unsaved drafts when another screen opens, but not after a sign-in on this screen. */
function remindOfDrafts(): void {
  if (location.pathname.startsWith(toAddress('/folders'))) return;
  for (const { folderName, isDirty } of drafts.read()) {
    if (!isDirty) continue;
    const text = `Your changes to “${folderName}” are not saved. They are kept on the page of the folder.`;
    toasts.add({ tone: 'note', text });
  }
}
