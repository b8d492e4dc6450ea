/** The page of a folder, with tabs for details, subfolders, access and history. */

import { lazy, Suspense, useEffect } from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components';
import { Link, setQuery, useLocation } from '../router.tsx';
import { useVisit } from '../tree/personal-folders.tsx';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { formatName, Name } from '../ui/text.tsx';
import { Empty, Loading, QueryResult } from '../ui/states.tsx';
import { DetailsTab } from './details/details-tab.tsx';
import { drafts, useDrafts } from './details/draft-store.ts';
import { LostDraft } from './details/folder-form.tsx';
import { FolderHeader } from './folder-header.tsx';
import { hasLevel, useCurrentFolder, useRootId, type CurrentFolder } from './current-folder.ts';

const loading = (
  <>
    <h1 className="visually-hidden">Folder</h1>
    <Loading lines={6} label="Loading the folder" />
  </>
);

/** Without an id, this is the page of the root. */
export function FolderPage({ id }: { id: string | null }) {
  const root = useRootId();
  return (
    <section className="folder-page page" aria-label="Folder" data-folder-id={id ?? 'root'}>
      <Link to="/folders" className="back-link folder-back">
        <Icon name="back" /> Back to the tree
      </Link>
      {id === null ? (
        <QueryResult query={root} loading={loading}>
          {({ folder }) => <FolderById key={folder.id} id={folder.id} />}
        </QueryResult>
      ) : (
        <FolderById key={id} id={id} />
      )}
    </section>
  );
}

function FolderById({ id }: { id: string }) {
  return (
    <>
      <OtherDrafts folderId={id} />
      <QueryResult query={useCurrentFolder(id)} loading={loading}>
        {({ folder }) => (
          <>
            {!(folder && hasLevel(folder.accessLevel, 'WRITE')) && <LostDraft folderId={id} />}
            {folder ? <FolderTabs folder={folder} /> : <FolderNotFound />}
          </>
        )}
      </QueryResult>
    </>
  );
}

// Loaded on demand, so that the tree is displayed sooner.
const ChildrenTab = lazy(async () => ({
  default: (await import('./children/children-tab.tsx')).ChildrenTab,
}));
const AccessTab = lazy(async () => ({ default: (await import('./access/access-tab.tsx')).AccessTab }));
const HistoryTab = lazy(async () => ({ default: (await import('./history/history-tab.tsx')).HistoryTab }));

const tabs = [
  { id: 'details', label: 'Details', Content: DetailsTab },
  { id: 'folders', label: 'Folders', Content: ChildrenTab },
  { id: 'access', label: 'Access', Content: AccessTab },
  { id: 'history', label: 'History', Content: HistoryTab },
] as const;

/** The tabs of a folder without read access, which the viewer can only pass through. */
const passageTabs: readonly string[] = ['folders', 'access'];

function FolderTabs({ folder }: { folder: CurrentFolder }) {
  const { id: folderId, name, accessLevel, folders, parent } = folder;
  const requestedTab = useLocation().query.get('tab');
  const visibleTabs = tabs.filter(({ id }) => accessLevel !== 'NONE' || passageTabs.includes(id));
  const selected = visibleTabs.find(({ id }) => id === requestedTab) ?? visibleTabs[0]!;

  useVisit(parent === null ? null : folderId);
  useEffect(() => {
    // The shell sets the title of the screen first.
    queueMicrotask(() => (document.title = `${formatName(name)} · Espalier`));
  }, [name]);

  return (
    <>
      <FolderHeader folder={folder} />
      {accessLevel === 'NONE' && (
        <p className="hint">
          You see only the name of this folder and the subfolders that lead to folders that you can read.
        </p>
      )}
      <Tabs
        className="tabs"
        selectedKey={selected.id}
        onSelectionChange={(key) => setQuery({ tab: key === visibleTabs[0]!.id ? null : `${key}` })}
      >
        <TabList className="tab-list" aria-label="About this folder">
          {visibleTabs.map(({ id, label }) => (
            <Tab key={id} id={id} className="tab">
              {label}
              {id === 'folders' && folders.totalCount > 0 && (
                <span className="tab-count number">{folders.totalCount.toLocaleString('en')}</span>
              )}
            </Tab>
          ))}
        </TabList>
        {visibleTabs.map(({ id, Content }) => (
          <TabPanel key={id} id={id} className="tab-panel">
            <Suspense fallback={<Loading />}>
              <Content folder={folder} />
            </Suspense>
          </TabPanel>
        ))}
      </Tabs>
    </>
  );
}

function FolderNotFound() {
  return (
    <>
      <h1 className="visually-hidden">Folder not found</h1>
      <Empty icon="search" title="There is no such folder">
        <p>It was deleted, or you do not have access to it.</p>
        <p className="folder-navigation">
          <Link to="/folders">Go to the root</Link>
          <Link to="/trash">Open the trash</Link>
        </p>
      </Empty>
    </>
  );
}

/** Lists other folders with unsaved drafts. */
function OtherDrafts({ folderId }: { folderId: string }) {
  const others = useDrafts().filter((draft) => draft.isDirty && draft.folderId !== folderId);
  if (others.length === 0) return null;
  return (
    <ul className="folder-notes" aria-label="Unsaved changes elsewhere">
      {others.map(({ folderId: id, folderName }) => (
        <li key={id} className="folder-note warning">
          <Icon name="edit" />
          <p>
            Your changes to{' '}
            <Link to={`/folders/${id}`}>
              <Name>{folderName}</Name>
            </Link>{' '}
            are not saved.
          </p>
          <Button size="small" tone="quiet" onPress={() => drafts.drop(id)}>
            Discard
          </Button>
        </li>
      ))}
    </ul>
  );
}
