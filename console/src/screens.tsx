/** The screens of the console: their address, navigation entry, audience and component. */

import { lazy, type ComponentType, type LazyExoticComponent } from 'react';
import type { IconName } from './ui/icons.tsx';

export interface Screen {
  /** The first segment of the address. */
  readonly segment: string;
  readonly label: string;
  readonly icon: IconName;
  readonly group: 'tree' | 'people' | 'server' | 'developers' | 'none';
  readonly isForAdministrators?: true;
  readonly Component: LazyExoticComponent<ComponentType> | ComponentType;
}

export const screens: readonly Screen[] = [
  {
    segment: 'folders',
    label: 'Folders',
    icon: 'folder',
    group: 'tree',
    Component: lazy(async () => ({ default: (await import('./folder/folders-screen.tsx')).FoldersScreen })),
  },
  {
    segment: 'trash',
    label: 'Trash',
    icon: 'trash',
    group: 'tree',
    Component: lazy(async () => ({ default: (await import('./folder/trash/trash-screen.tsx')).TrashScreen })),
  },
  {
    segment: 'users',
    label: 'Users',
    icon: 'user',
    group: 'people',
    isForAdministrators: true,
    Component: lazy(async () => ({ default: (await import('./people/users/users-screen.tsx')).UsersScreen })),
  },
  {
    segment: 'groups',
    label: 'Groups',
    icon: 'group',
    group: 'people',
    isForAdministrators: true,
    Component: lazy(async () => ({
      default: (await import('./people/groups/groups-screen.tsx')).GroupsScreen,
    })),
  },
  {
    segment: 'sessions',
    label: 'Sessions',
    icon: 'device',
    group: 'people',
    isForAdministrators: true,
    Component: lazy(async () => ({
      default: (await import('./people/sessions/sessions-screen.tsx')).SessionsScreen,
    })),
  },
  {
    segment: 'sign-ins',
    label: 'Sign-ins',
    icon: 'clock',
    group: 'people',
    isForAdministrators: true,
    Component: lazy(async () => ({
      default: (await import('./people/sign-ins/sign-ins-screen.tsx')).SignInsScreen,
    })),
  },
  {
    segment: 'api-keys',
    label: 'API keys',
    icon: 'key',
    group: 'people',
    isForAdministrators: true,
    Component: lazy(async () => ({
      default: (await import('./people/api-keys/api-keys-screen.tsx')).ApiKeysScreen,
    })),
  },
  {
    segment: 'overview',
    label: 'Overview',
    icon: 'gauge',
    group: 'server',
    isForAdministrators: true,
    Component: lazy(async () => ({
      default: (await import('./operations/overview/overview-screen.tsx')).OverviewScreen,
    })),
  },
  {
    segment: 'journal',
    label: 'Journal',
    icon: 'list',
    group: 'server',
    isForAdministrators: true,
    Component: lazy(async () => ({
      default: (await import('./operations/journal/journal-screen.tsx')).JournalScreen,
    })),
  },
  {
    segment: 'keys',
    label: 'Signing keys',
    icon: 'shield',
    group: 'server',
    isForAdministrators: true,
    Component: lazy(async () => ({ default: (await import('./operations/keys-screen.tsx')).KeysScreen })),
  },
  {
    segment: 'settings',
    label: 'Settings',
    icon: 'settings',
    group: 'server',
    isForAdministrators: true,
    Component: lazy(async () => ({
      default: (await import('./operations/settings-screen.tsx')).SettingsScreen,
    })),
  },
  {
    segment: 'explorer',
    label: 'Explorer',
    icon: 'play',
    group: 'developers',
    Component: lazy(async () => ({
      default: (await import('./explorer/explorer-screen.tsx')).ExplorerScreen,
    })),
  },
  {
    segment: 'api',
    label: 'API docs',
    icon: 'book',
    group: 'developers',
    Component: lazy(async () => ({ default: (await import('./explorer/api-screen.tsx')).ApiScreen })),
  },
  {
    segment: 'account',
    label: 'Your account',
    icon: 'user',
    group: 'none',
    Component: lazy(async () => ({ default: (await import('./people/account-screen.tsx')).AccountScreen })),
  },
];
