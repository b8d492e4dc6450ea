/** The queries that find a folder by id or by path, search folders, and export everything below a folder. */

import { whenDone, type PromiseOrValue } from '../../../concurrency/promise-or-value.ts';
import { exportFolders, type ExportedFolder as Exported } from '../../../folders/export-folders.ts';
import {
  readFolder,
  readFolderByPath,
  readRoot,
  requireFolder,
  type Folder as FolderRow,
  type TreeView,
} from '../../../folders/tree-view.ts';
import { Refusal } from '../../../refusal.ts';
import { longField } from '../../field-marks.ts';
import { completeInSlices } from '../../time-slices.ts';
import { builder, Folder, FolderConnection, Node } from '../builder.ts';
import { chargeText } from '../charges.ts';
import { pageArguments } from '../connections/relay-connection-types.ts';
import { findFolderNode, toFolderNode } from './folder-batch.ts';
import { openSearch, toDepth } from './descendants-and-search.ts';

const maxPathLength = 256 * 256;

builder.queryFields((t) => ({
  folder: t.field({
    type: Folder,
    nullable: true,
    description:
      'Find a folder by its id or by its path, for example "/Places/Harbour Campus". Without arguments, returns the root.',
    args: {
      id: t.arg.id({ description: 'The id of the folder. Set either `id` or `path`.' }),
      path: t.arg.string({ description: 'The path of the folder, with exact names. "/" is the root.' }),
    },
    resolve: (_, { id, path }, { view }) =>
      whenDone(findFolder(view, id, path), (folder) => (folder ? toFolderNode(view, folder) : null)),
  }),
  node: t.field({
    type: Node,
    nullable: true,
    description: 'Find an object by its id. Only folders are nodes.',
    args: { id: t.arg.id({ required: true, description: 'The id of the object.' }) },
    resolve: (_, { id }, { view }) => findFolderNode(view, id),
  }),
  search: t.field({
    type: FolderConnection,
    description: [
      'Find the folders whose name or title contains the text. Case and accents do not matter.',
      'Order: first a folder whose id or path is the text, then exact matches, then names and titles that start with the text, then names and titles with a word that starts with the text, then all others.',
      'A text of fewer than three characters matches only the start of a name or title. If the text has several words, the last word must be in the name or title of the folder. Each other word must be there, or in the name or title of an ancestor. For example, "harbour floor" finds "/Places/Harbour Campus/Floor 2".',
      'A page can hold fewer folders than `first`, or none, while `hasNextPage` is true: continue after its `endCursor`. `totalCount` is the number of matches found so far.',
    ].join('\n\n'),
    args: {
      text: t.arg.string({
        required: true,
        description: 'The text to find: at most 255 characters, or 4,096 for a path. For example: "floor 2".',
      }),
      under: t.arg.id({ description: 'Search only inside this folder.' }),
      ...pageArguments(t.arg, '50 by default'),
    },
    extensions: longField,
    resolve: async (_, args, context, info) => {
      if (typeof args.under === 'string') await requireFolder(context.view, args.under);
      return openSearch(args, context, info);
    },
  }),
}));

const ExportedFolder = builder.objectRef<Exported>('ExportedFolder').implement({
  description: 'A folder in the format that `list` of `importFolders` accepts.',
  fields: (t) => ({
    path: t.string({
      description: 'The path below the exported folder.',
      resolve: chargeText(({ path }) => path),
    }),
    title: t.string({
      nullable: true,
      description: 'The title. Null if none is set.',
      resolve: chargeText(({ title }) => title),
    }),
    icon: t.string({
      nullable: true,
      description: 'The icon. Null if none is set.',
      resolve: chargeText(({ icon }) => icon),
    }),
    description: t.string({
      nullable: true,
      description: 'The description. Null if none is set.',
      resolve: chargeText(({ description }) => description),
    }),
    properties: t.field({
      type: 'JSON',
      nullable: true,
      description: 'The properties. Null if none are set.',
      resolve: chargeText(({ properties }) => properties),
    }),
  }),
});

builder.queryField('exportFolders', (t) =>
  t.field({
    type: [ExportedFolder],
    description:
      'All folders that you see inside a folder, as a flat list. Each folder comes directly before the folders inside it. Exports have their own limit, so that one response can hold a whole tree.',
    args: {
      id: t.arg.id({ description: 'The folder to export: the root by default.' }),
      depth: t.arg.int({
        description: 'The maximum number of levels below the folder. 1 returns only the subfolders.',
      }),
    },
    extensions: longField,
    resolve: async (_, { id, depth }, context, info) => {
      const { view, limits, budget, database } = context;
      const reportDamage = (finding: string) => database.reportDamage(finding);
      const options = { depth: toDepth(depth), maxFolders: limits.maxExportFolders, reportDamage };
      const top = typeof id === 'string' ? await requireFolder(view, id) : await readRoot(view);
      const exported = budget.spendExport(await exportFolders(view, top, options), info);
      return completeInSlices(exported, context, info);
    },
  }),
);

function findFolder(
  view: TreeView,
  id: string | null | undefined,
  path: string | null | undefined,
): PromiseOrValue<FolderRow | undefined> {
  if (typeof id === 'string' && typeof path === 'string') {
    throw new Refusal('BAD_INPUT', 'Set either `id` or `path`, and not both.');
  }
  if (typeof id === 'string') return readFolder(view, id);
  if (typeof path === 'string') return readFolderByPath(view, splitPath(path));
  return readRoot(view);
}

/** Splits a path into names. "/" is the root; a trailing slash is ignored. */
function splitPath(path: string): string[] {
  if (path.length > maxPathLength) {
    throw new Refusal('BAD_INPUT', `\`path\` must have at most ${maxPathLength} characters.`);
  }
  if (!path.startsWith('/'))
    throw new Refusal('BAD_INPUT', '`path` must start with a slash, for example "/Places/Floor 2".');
  const trimmed = path.slice(1).replace(/\/$/, '');
  return trimmed === '' ? [] : trimmed.split('/');
}
