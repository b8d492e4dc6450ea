/** One folder: what it is, what is inside, who may do what, what happened. */

import { useEffect } from 'react';
import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components';
import { Link, setQuery, usePlace } from '../router.tsx';
import { Icon } from '../ui/icons.tsx';
import { QueryResult, Empty, Loading } from '../ui/states.tsx';
import { AccessTab } from './access/access-tab.tsx';
import { ChildrenTab } from './children/children-tab.tsx';
import { DetailsTab } from './details/details-tab.tsx';
import { FolderHeader } from './folder-header.tsx';
import { HistoryTab } from './history/history-tab.tsx';
import { useOpenFolder, useRootId, type OpenFolder } from './open-folder.ts';
import { Button } from '../ui/button.tsx';
import { useDrafts, drafts } from './details/draft-store.ts';

const loading = (
  <>
    <h1 className="visually-hidden">Folder</h1>
    <Loading lines={6} label="Loading the folder" />
  </>
);

/** The root, if no id is given. */
export function FolderPage({ id }: { id: string | null }) {
  const root = useRootId();
  return (
    <section className="folder-page page" aria-label="Folder">
      <Link to="/folders" className="folder-back">
        <Icon name="back" /> Back to the tree
      </Link>
      {id === null ? (
        <QueryResult query={root} loading={loading}>
          {({ folder }) => <Opened key={folder.id} id={folder.id} />}
        </QueryResult>
      ) : (
        <Opened key={id} id={id} />
      )}
    </section>
  );
}

function Opened({ id }: { id: string }) {
  return (
    <>
      <UnsavedElsewhere folderId={id} />
      <QueryResult query={useOpenFolder(id)} loading={loading}>
        {({ folder }) => (folder ? <Shown folder={folder} /> : <Missing />)}
      </QueryResult>
    </>
  );
}

const tabs = [
  { id: 'details', label: 'Details', Content: DetailsTab },
  { id: 'folders', label: 'Folders', Content: ChildrenTab },
  { id: 'access', label: 'Access', Content: AccessTab },
  { id: 'history', label: 'History', Content: HistoryTab },
] as const;

/** Of a folder that one may only pass through, there is no more to see. */
const tabsOfPassage: readonly string[] = ['folders', 'access'];

function Shown({ folder }: { folder: OpenFolder }) {
  const { title, accessLevel, folders } = folder;
  const asked = usePlace().query.get('tab');
  const shown = tabs.filter(({ id }) => accessLevel !== 'NONE' || tabsOfPassage.includes(id));
  const selected = shown.find(({ id }) => id === asked) ?? shown[0]!;

  useEffect(() => {
    // After the frame, which names the screen.
    queueMicrotask(() => (document.title = `${title} · Espalier`));
  }, [title]);

  return (
    <>
      <FolderHeader folder={folder} />
      {accessLevel === 'NONE' && (
        <p className="hint">You may only pass through this folder, to what you may see inside.</p>
      )}
      <Tabs
        className="tabs"
        selectedKey={selected.id}
        onSelectionChange={(key) => setQuery({ tab: key === shown[0]!.id ? null : `${key}` })}
      >
        <TabList className="tab-list" aria-label="About this folder">
          {shown.map(({ id, label }) => (
            <Tab key={id} id={id} className="tab">
              {label}
              {id === 'folders' && folders.totalCount > 0 && (
                <span className="tab-count number">{folders.totalCount.toLocaleString('en')}</span>
              )}
            </Tab>
          ))}
        </TabList>
        {shown.map(({ id, Content }) => (
          <TabPanel key={id} id={id} className="tab-panel">
            <Content folder={folder} />
          </TabPanel>
        ))}
      </Tabs>
    </>
  );
}

function Missing() {
  return (
    <>
      <h1 className="visually-hidden">Folder not found</h1>
      <Empty icon="search" title="This folder is not there">
        <p>It has been deleted, or you may not see it.</p>
        <p className="folder-ways">
          <Link to="/folders">To the top of the tree</Link>
          <Link to="/trash">Look in the trash</Link>
        </p>
      </Empty>
    </>
  );
}

export function UnsavedElsewhere({ folderId }: { folderId: string }) {
  const elsewhere = useDrafts().filter((one) => one.isDirty && one.folderId !== folderId);
  if (elsewhere.length === 0) return null;
  return (
    <ul className="folder-notes" aria-label="Unsaved changes elsewhere">
      {elsewhere.map(({ folderId: id, folderName }) => (
        <li key={id} className="folder-note warning">
          <Icon name="edit" />
          <p>
            Your changes of <Link to={`/folders/${id}`}>{folderName}</Link> are not saved yet.
          </p>
          <Button size="small" tone="quiet" onPress={() => drafts.drop(id)}>
            Discard
          </Button>
        </li>
      ))}
    </ul>
  );
}
