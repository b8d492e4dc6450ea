/** The commands about folders, in the order of help. */

import type { ListedCommand } from '../command.ts';

export const folderCommands: readonly ListedCommand[] = [
  {
    name: 'folder ls',
    about: 'List what is inside a folder',
    load: async () => (await import('./ls.ts')).ls,
  },
  {
    name: 'folder tree',
    about: 'Draw what is inside a folder, with all levels',
    load: async () => (await import('./tree.ts')).tree,
  },
  {
    name: 'folder show',
    about: 'Show all there is to know of a folder',
    load: async () => (await import('./show.ts')).show,
  },
  {
    name: 'folder search',
    about: 'Find folders by their name or title',
    load: async () => (await import('./search.ts')).search,
  },
  {
    name: 'folder mkdir',
    about: 'Make folders',
    load: async () => (await import('./mkdir.ts')).mkdir,
  },
  {
    name: 'folder set',
    about: 'Change the name, texts and properties of a folder',
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
    about: 'List what was deleted and can be restored',
    load: async () => (await import('./trash.ts')).trash,
  },
  {
    name: 'folder restore',
    about: 'Bring a deleted folder back',
    load: async () => (await import('./restore.ts')).restore,
  },
  {
    name: 'folder import',
    about: 'Make many folders at once, from a directory or a file',
    load: async () => (await import('./import.ts')).importFolders,
  },
  {
    name: 'folder export',
    about: 'Write all that is inside a folder into a file',
    load: async () => (await import('./export.ts')).exportFolders,
  },
  {
    name: 'folder watch',
    about: 'Follow what happens to a folder and what is inside',
    load: async () => (await import('./watch.ts')).watch,
  },
];
