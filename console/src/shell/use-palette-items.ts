/** The items of the palette: screens, folders, people and commands. */

import { keepPreviousData } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { runCommandWhenOffered, listCommands } from '../actions/palette-commands.ts';
import { latestUndoable, toasts, undoLast } from '../actions/toasts.ts';
import { useGraph } from '../graph/use-graph.ts';
import { navigate } from '../router.tsx';
import { screens } from '../screens.tsx';
import { useViewer } from '../session/session.tsx';
import { listsFor } from '../tree/personal-folders.tsx';
import { copyText } from '../ui/copy.tsx';
import { useDebounced } from '../ui/typing.ts';
import { findItems, dropStale, matchesWithoutNames, type PaletteItem } from './palette-items.ts';
import { readRecent, type RecentChoice } from './recent-choices.ts';
import { setTheme } from './theme.tsx';

const searchDocument = /* GraphQL */ `
  query PaletteSearch($text: String!) {
    search(text: $text, first: 8) {
      items {
        id
        name
        title
        path
      }
    }
  }
`;

const peopleDocument = /* GraphQL */ `
  query PalettePeople($text: String!) {
    users(text: $text, first: 5) {
      items {
        id
        username
      }
    }
    groups(text: $text, first: 5) {
      items {
        id
        name
      }
    }
  }
`;

interface Folders {
  readonly search: { readonly items: readonly { id: string; name: string; title: string; path: string }[] };
}

interface People {
  readonly users: { readonly items: readonly { id: string; username: string }[] };
  readonly groups: { readonly items: readonly { id: string; name: string }[] };
}

/** An item that opens a folder or a person stores their address with the choice. */
export type NavigableItem = PaletteItem & { readonly target?: RecentChoice['target'] };

export function usePaletteItems(
  text: string,
  openShortcuts: () => void,
  signOut: () => void,
): { items: NavigableItem[]; isSearching: boolean } {
  const viewer = useViewer();
  const fixedItems = useFixedItems(openShortcuts, signOut);
  const [recent] = useState(() => readRecent(viewer.id));
  const searchText = useDebounced(text.trim(), 120);
  const hasSearchText = searchText !== '';
  const folders = useGraph<Folders>(
    ['palette', 'folders', searchText],
    searchDocument,
    { text: searchText },
    createSearchOptions(hasSearchText),
  );
  const people = useGraph<People>(
    ['palette', 'people', searchText],
    peopleDocument,
    { text: searchText },
    createSearchOptions(hasSearchText && viewer.isAdministrator),
  );

  const ids = recent.map(({ id }) => id);
  const matching = findItems(fixedItems, text, ids);
  if (text.trim() === '')
    return { items: [...listRecentItems(recent, fixedItems), ...matching], isSearching: false };
  const commands = matching.filter(isPageCommand);
  const rest = matching.filter((item) => !isPageCommand(item));
  const commandsByVerb = commands.filter((command) => matchesWithoutNames(command, text));
  const isBehind = searchText !== text.trim();
  const isSearching = isBehind || folders.isFetching || people.isFetching;
  const searched = hasSearchText
    ? [
        ...dropStale(createFolderItems(folders.data), text, isBehind || folders.isPlaceholderData),
        ...dropStale(createPeopleItems(people.data), text, isBehind || people.isPlaceholderData),
      ]
    : [];
  return {
    // The list drops the second occurrence of a command.
    items: [
      ...commandsByVerb,
      ...rest.filter(isScreen),
      ...searched,
      ...commands,
      ...rest.filter((item) => !isScreen(item)),
    ],
    isSearching,
  };
}

function createSearchOptions(enabled: boolean) {
  return { enabled, placeholderData: keepPreviousData, staleTime: 10_000 } as const;
}

const isScreen = ({ group }: PaletteItem) => group === 'Go to';
const isPageCommand = ({ group }: PaletteItem) => group !== 'Go to' && group !== 'Actions';

/** Returns the items that need no search on the server. */
function useFixedItems(openShortcuts: () => void, signOut: () => void): readonly NavigableItem[] {
  const { isAdministrator } = useViewer();
  return useMemo(() => {
    const offered = listCommands().map((command): NavigableItem => ({ ...command, icon: 'play' }));
    const goTo = screens
      .filter(({ isForAdministrators }) => isAdministrator || !isForAdministrators)
      .map(({ segment, label, icon }): NavigableItem => ({
        id: `screen:${segment}`,
        group: 'Go to',
        label,
        icon,
        keywords: 'go to open',
        run: () => navigate(`/${segment}`),
      }));
    const folderLists = listsFor({ isAdministrator }).map(({ kind, label, icon }): NavigableItem => ({
      id: `list:${kind}`,
      group: 'Go to',
      label,
      icon,
      keywords: 'go to open folders',
      run: () => navigate(`/folders/${kind}`),
    }));
    const hasUndo = latestUndoable() !== undefined;
    return [
      ...offered,
      ...goTo,
      ...folderLists,
      ...(hasUndo ? [createCommand('undo', 'Undo', 'undo', 'take back last', undoLast)] : []),
      ...(isAdministrator
        ? [
            createRemoteCommand('newUser', 'New user…', 'user', '/users'),
            createRemoteCommand('newGroup', 'New group…', 'group', '/groups'),
          ]
        : []),
      createCommand('copyLink', 'Copy link to this page', 'copy', 'address url share', () => void copyLink()),
      createCommand('theme:light', 'Light theme', 'sun', 'colors appearance', () => setTheme('light')),
      createCommand('theme:dark', 'Dark theme', 'moon', 'colors appearance night', () => setTheme('dark')),
      createCommand('theme:system', 'System theme', 'monitor', 'colors appearance', () => setTheme('system')),
      { ...createCommand('shortcuts', 'Keyboard shortcuts', 'list', 'keys help', openShortcuts), keys: '?' },
      createCommand('signOut', 'Sign out', 'signOut', 'log out leave', signOut),
    ];
  }, [isAdministrator, signOut, openShortcuts]);
}

type Icon = NavigableItem['icon'];

function createCommand(
  id: string,
  label: string,
  icon: Icon,
  keywords: string,
  run: () => void,
): NavigableItem {
  return { id, group: 'Actions', label, icon, keywords, run };
}

/** A command of another screen: opens that screen and runs the command there. */
function createRemoteCommand(id: string, label: string, icon: Icon, path: string): NavigableItem {
  return createCommand(id, label, icon, 'create add', () => {
    runCommandWhenOffered(id);
    navigate(path);
  });
}

async function copyLink(): Promise<void> {
  const isCopied = await copyText(location.href);
  toasts.add(
    isCopied
      ? { tone: 'done', text: 'Copied the link' }
      : { tone: 'failure', text: 'The link could not be copied' },
  );
}

/** Returns the recent choices that are still available. */
function listRecentItems(
  recent: readonly RecentChoice[],
  fixedItems: readonly NavigableItem[],
): NavigableItem[] {
  return recent
    .flatMap(({ id, target }): NavigableItem[] => {
      const item =
        fixedItems.find((one) => one.id === id) ?? (target && createLinkItem(id, 'Recent', target));
      return item ? [{ ...item, group: 'Recent' }] : [];
    })
    .slice(0, 5);
}

function createFolderItems(data: Folders | undefined): NavigableItem[] {
  return (data?.search.items ?? []).map(({ id, name, title, path }) =>
    createLinkItem(`folder:${id}`, 'Folders', {
      label: title === name ? name : `${name} ${title}`,
      detail: path,
      path: `/folders/${id}`,
    }),
  );
}

function createPeopleItems(data: People | undefined): NavigableItem[] {
  const users = data?.users.items ?? [];
  const groups = data?.groups.items ?? [];
  return [
    ...users.map(({ id, username }) =>
      createLinkItem(`user:${id}`, 'People', { label: username, path: `/users/${id}` }),
    ),
    ...groups.map(({ id, name }) =>
      createLinkItem(`group:${id}`, 'People', { label: name, detail: 'Group', path: `/groups/${id}` }),
    ),
  ];
}

function createLinkItem(
  id: string,
  group: string,
  target: NonNullable<RecentChoice['target']>,
): NavigableItem {
  const { label, detail, path } = target;
  const icon = id.startsWith('user:') ? 'user' : id.startsWith('group:') ? 'group' : 'folder';
  return {
    id,
    group,
    label,
    ...(detail === undefined ? {} : { detail }),
    icon,
    target,
    run: () => navigate(path),
  };
}
