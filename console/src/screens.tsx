/** The screens of the console: where each is, who has it in the navigation, and what loads it. */

import { lazy, type ComponentType, type LazyExoticComponent } from 'react';
import type { IconName } from './ui/icons.tsx';

export interface Screen {
  /** The first part of the address. */
  readonly part: string;
  readonly label: string;
  readonly icon: IconName;
  readonly group: 'tree' | 'people' | 'server' | 'developers' | 'none';
  readonly forAdministrators?: true;
  readonly Component: LazyExoticComponent<ComponentType> | ComponentType;
}

export const screens: readonly Screen[] = [
  {
    part: 'folders',
    label: 'Folders',
    icon: 'folder',
    group: 'tree',
    Component: lazy(async () => ({ default: (await import('./folder/folders-screen.tsx')).FoldersScreen })),
  },
  {
    part: 'trash',
    label: 'Trash',
    icon: 'trash',
    group: 'tree',
    Component: lazy(async () => ({ default: (await import('./folder/trash/trash-screen.tsx')).TrashScreen })),
  },
  {
    part: 'users',
    label: 'Users',
    icon: 'user',
    group: 'people',
    forAdministrators: true,
    Component: lazy(async () => ({ default: (await import('./people/users-screen.tsx')).UsersScreen })),
  },
  {
    part: 'groups',
    label: 'Groups',
    icon: 'group',
    group: 'people',
    forAdministrators: true,
    Component: lazy(async () => ({ default: (await import('./people/groups-screen.tsx')).GroupsScreen })),
  },
  {
    part: 'sessions',
    label: 'Sessions',
    icon: 'device',
    group: 'people',
    forAdministrators: true,
    Component: lazy(async () => ({ default: (await import('./people/sessions-screen.tsx')).SessionsScreen })),
  },
  {
    part: 'overview',
    label: 'Overview',
    icon: 'gauge',
    group: 'server',
    forAdministrators: true,
    Component: lazy(async () => ({
      default: (await import('./operations/overview-screen.tsx')).OverviewScreen,
    })),
  },
  {
    part: 'journal',
    label: 'Journal',
    icon: 'list',
    group: 'server',
    forAdministrators: true,
    Component: lazy(async () => ({
      default: (await import('./operations/journal-screen.tsx')).JournalScreen,
    })),
  },
  {
    part: 'keys',
    label: 'Keys',
    icon: 'key',
    group: 'server',
    forAdministrators: true,
    Component: lazy(async () => ({ default: (await import('./operations/keys-screen.tsx')).KeysScreen })),
  },
  {
    part: 'settings',
    label: 'Settings',
    icon: 'settings',
    group: 'server',
    forAdministrators: true,
    Component: lazy(async () => ({
      default: (await import('./operations/settings-screen.tsx')).SettingsScreen,
    })),
  },
  {
    part: 'explorer',
    label: 'Explorer',
    icon: 'play',
    group: 'developers',
    Component: lazy(async () => ({
      default: (await import('./explorer/explorer-screen.tsx')).ExplorerScreen,
    })),
  },
  {
    part: 'api',
    label: 'API docs',
    icon: 'book',
    group: 'developers',
    Component: lazy(async () => ({ default: (await import('./explorer/api-screen.tsx')).ApiScreen })),
  },
  {
    part: 'account',
    label: 'Your account',
    icon: 'user',
    group: 'none',
    Component: lazy(async () => ({ default: (await import('./people/account-screen.tsx')).AccountScreen })),
  },
];
