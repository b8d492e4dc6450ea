/** `espalier folder`: the commands about folders. Each is loaded only when it runs. */

import type { Group } from '../command.ts';

export const folder: Group = {
  examples: [
    'espalier folder tree /Places --depth 2',
    'espalier folder create -p /Places/Harbour/A --title "Building A"',
    'espalier folder move /Places/Harbour/A /Archive',
    'espalier folder delete -r /Archive/A',
    'espalier folder restore <id>    # see espalier folder trash for the id',
    'espalier folder import rooms.csv /Places --dry-run',
    'espalier folder export /Places -o places.csv',
  ],
  commands: {
    list: async () => (await import('./list.ts')).list,
    tree: async () => (await import('./tree.ts')).tree,
    show: async () => (await import('./list.ts')).show,
    search: async () => (await import('./list.ts')).search,
    create: async () => (await import('./create.ts')).create,
    update: async () => (await import('./update.ts')).update,
    move: async () => (await import('./move.ts')).move,
    duplicate: async () => (await import('./create.ts')).duplicate,
    delete: async () => (await import('./trash.ts')).remove,
    trash: async () => (await import('./trash.ts')).trash,
    restore: async () => (await import('./trash.ts')).restore,
    purge: async () => (await import('./trash.ts')).purge,
    import: async () => (await import('./import/import.ts')).importFolders,
    export: async () => (await import('./export.ts')).exportFolders,
    watch: async () => (await import('./watch.ts')).watch,
  },
};
