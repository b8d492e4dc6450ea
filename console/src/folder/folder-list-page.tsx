/** The page of one list of folders that concern only the viewer. */

import { useEffect } from 'react';
import { personalKey, useGraph } from '../graph/use-graph.ts';
import { usePages, type Page } from '../graph/use-pages.ts';
import { Link, navigate } from '../router.tsx';
import {
  FavoriteButton,
  listedFolderFields,
  useFavorites,
  type FolderList,
  type FolderListKind,
  type ListedFolder,
} from '../tree/personal-folders.tsx';
import { LevelChip } from '../ui/access-level.tsx';
import { actionsColumn, DataTable, type TableColumn, type TableList } from '../ui/data-table.tsx';
import { FolderIcon, Icon } from '../ui/icons.tsx';
import { Empty } from '../ui/states.tsx';
import { Name } from '../ui/text.tsx';

const recentDocument =
  /* GraphQL */ `
    query RecentFolders {
      viewer {
        recentFolders {
          ...ListedFolder
        }
      }
    }
  ` + listedFolderFields;

const sharedDocument =
  /* GraphQL */ `
    query SharedFolders($after: String) {
      viewer {
        sharedFolders(first: 50, after: $after) {
          items {
            ...ListedFolder
          }
          totalCount
          pageInfo {
            hasNextPage
            endCursor
          }
        }
      }
    }
  ` + listedFolderFields;

type RecentResponse = { readonly viewer: { readonly recentFolders: readonly ListedFolder[] } };
type SharedResponse = { readonly viewer: { readonly sharedFolders: Page<ListedFolder> } };

function useFavoriteList(): TableList<ListedFolder> {
  const { data, ...query } = useFavorites();
  return { ...query, data: data?.viewer.favorites.items };
}

function useRecentList(): TableList<ListedFolder> {
  const key = [...personalKey, 'recent'] as const;
  const { data, ...query } = useGraph<RecentResponse>(key, recentDocument, {}, { staleTime: 0 });
  return { ...query, data: data?.viewer.recentFolders };
}

function useSharedList(): TableList<ListedFolder> {
  return usePages<SharedResponse, ListedFolder>(
    [...personalKey, 'shared'],
    sharedDocument,
    {},
    ({ viewer }) => viewer.sharedFolders,
  );
}

const lists: Readonly<
  Record<
    FolderListKind,
    { readonly useList: () => TableList<ListedFolder>; readonly hint: string; readonly empty: string }
  >
> = {
  favorites: {
    useList: useFavoriteList,
    hint: 'Only you see your favorites.',
    empty: 'Open a folder and choose “Favorite” next to its name.',
  },
  recent: {
    useList: useRecentList,
    hint: 'The folders that you opened last. Only you see them.',
    empty: 'Folders appear here after you open them.',
  },
  shared: {
    useList: useSharedList,
    hint: 'The topmost folders that are shared with you or your groups.',
    empty: 'Ask an administrator for access.',
  },
};

export function FolderListPage({ list: { kind, label, icon } }: { list: FolderList }) {
  const { useList, hint, empty } = lists[kind];
  const list = useList();
  useEffect(() => {
    // The shell sets the title of the screen first.
    queueMicrotask(() => (document.title = `${label} · Espalier`));
  }, [label]);
  return (
    <section className="folder-page page" aria-label={label}>
      <Link to="/folders" className="back-link folder-back">
        <Icon name="back" /> Back to the tree
      </Link>
      <header className="page-header">
        <h1>{label}</h1>
      </header>
      <p className="page-about">{hint}</p>
      <DataTable
        label={label}
        columns={columns}
        list={list}
        keyOf={({ id }) => id}
        onRowClick={({ id }) => navigate(`/folders/${id}`)}
        empty={
          <Empty icon={icon} title="No folders yet">
            <p>{empty}</p>
          </Empty>
        }
      />
    </section>
  );
}

const columns: readonly TableColumn<ListedFolder>[] = [
  {
    id: 'name',
    label: 'Name',
    isRowHeader: true,
    render: ({ id, name, title, icon }) => (
      <span className="folder-listed">
        <FolderIcon icon={icon} />
        <Link to={`/folders/${id}`}>
          <Name>{name}</Name>
        </Link>
        {title !== name && (
          <span className="soft">
            <Name>{title}</Name>
          </span>
        )}
      </span>
    ),
  },
  { id: 'path', label: 'Path', minTableWidth: 480, render: ({ path }) => <Name>{path}</Name> },
  {
    id: 'level',
    label: 'Your access',
    render: ({ accessLevel }) =>
      accessLevel === 'NONE' ? (
        <span className="label-chip">Passage only</span>
      ) : (
        <LevelChip level={accessLevel} />
      ),
  },
  actionsColumn((folder) => <FavoriteButton folder={folder} />),
];
