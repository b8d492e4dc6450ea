/** The commands about folders, in the order of help. */

import type { ListedCommand } from '../command.ts';

export const folderCommands: readonly ListedCommand[] = [
  {
    name: 'folder ls',
    about: 'List the folders in a folder',
    load: async () => (await import('./ls.ts')).ls,
  },
  {
    name: 'folder tree',
    about: 'Draw the tree of folders in a folder',
    load: async () => (await import('./tree.ts')).tree,
  },
  {
    name: 'folder show',
    about: 'Show the details of a folder',
    load: async () => (await import('./show.ts')).show,
  },
  {
    name: 'folder search',
    about: 'Find folders by name or title',
    load: async () => (await import('./search.ts')).search,
  },
  {
    name: 'folder mkdir',
    about: 'Create folders',
    load: async () => (await import('./mkdir.ts')).mkdir,
  },
  {
    name: 'folder set',
    about: 'Change the name, title, icon, description and properties of a folder',
    load: async () => (await import('./set.ts')).set,
  },
  {
    name: 'folder mv',
    about: 'Move or rename a folder',
    load: async () => (await import('./mv.ts')).mv,
  },
  {
    name: 'folder rm',
    about: 'Delete folders',
    load: async () => (await import('./rm.ts')).rm,
  },
  {
    name: 'folder trash',
    about: 'List deleted folders that can be restored',
    load: async () => (await import('./trash.ts')).trash,
  },
  {
    name: 'folder restore',
    about: 'Restore a deleted folder',
    load: async () => (await import('./restore.ts')).restore,
  },
  {
    name: 'folder import',
    about: 'Create many folders at once from a directory or a file',
    load: async () => (await import('./import/import.ts')).importFolders,
  },
  {
    name: 'folder export',
    about: 'Export the contents of a folder to a file',
    load: async () => (await import('./export.ts')).exportFolders,
  },
  {
    name: 'folder watch',
    about: 'Print changes of a folder and its contents as they happen',
    load: async () => (await import('./watch.ts')).watch,
  },
];
