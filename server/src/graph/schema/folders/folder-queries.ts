/** The queries that find folders: by id, by path, by search, and everything below a folder as an export. */

import { accessLevels } from '../../../access/access.ts';
import { whenDone, type PromiseOrValue } from '../../../concurrency/promise-or-value.ts';
import { exportFolders, type ExportedFolder as Exported } from '../../../folders/import/export-folders.ts';
import {
  readFolder,
  readFolderByPath,
  readRoot,
  requireFolder,
  withLevel,
  type Folder,
  type TreeView,
} from '../../../folders/folders.ts';
import type { ChangedFolder } from '../../../folders/manage-folders.ts';
import { Refusal } from '../../../refusal.ts';
import type { Builder, GraphContext } from '../builder.ts';
import { longField } from '../../document-fields.ts';
import type { SinceCommit } from '../../mutations.ts';
import { completeInSlices } from '../../time-slices.ts';
import { findFolderNode, toFolderNode, type FolderNode } from './folder-batch.ts';
import type { FolderTypes } from './folder.ts';
import { openSearch, toDepth } from './forward-connection.ts';

const maxPathLength = 256 * 256;

export function defineFolderQueries(
  builder: Builder,
  { Node, Folder, Connection }: Pick<FolderTypes, 'Node' | 'Folder' | 'Connection'>,
): void {
  builder.queryFields((t) => ({
    folder: t.field({
      type: Folder,
      nullable: true,
      description: 'A folder by its id or by its path ("/Places/Harbour Campus"); with neither, the root.',
      args: { id: t.arg.id(), path: t.arg.string() },
      resolve: (_, { id, path }, { view }) =>
        whenDone(findFolder(view, id, path), (folder) => (folder ? toFolderNode(view, folder) : null)),
    }),
    node: t.field({
      type: Node,
      nullable: true,
      description: 'What implements Node, by its id: a folder.',
      args: { id: t.arg.id({ required: true }) },
      resolve: (_, { id }, { view }) => findFolderNode(view, id),
    }),
    search: t.field({
      type: Connection,
      description:
        'Folders whose name or title holds the text, without regard to case and accents: first those that are the text, then those that begin with it, then those with a word that does. Texts of fewer than three characters find beginnings only. A page examines a bounded number of folders that you may not see: it can hold fewer folders than `first`, or none, while `hasNextPage` is true. Then continue with `endCursor`; `totalCount` counts the matches found so far.',
      args: {
        text: t.arg.string({ required: true }),
        under: t.arg.id({ description: 'Only what is inside this folder.' }),
        first: t.arg.int({ description: 'At most so many; 50 unless told.' }),
        after: t.arg.string({ description: 'Only what follows this cursor.' }),
      },
      extensions: longField,
      resolve: async (_, args, context, info) => {
        if (typeof args.under === 'string') await requireFolder(context.view, args.under);
        return openSearch(args, context, info);
      },
    }),
  }));
  defineExport(builder);
}

function defineExport(builder: Builder): void {
  const ExportedFolder = builder.objectRef<Exported>('ExportedFolder').implement({
    description: 'A folder as `importFolders` takes it in a `list`.',
    fields: (t) => ({
      path: t.string({
        description: 'Below the folder that was exported.',
        resolve: ({ path }, _, { budget }, info) => budget.spendText(path, info),
      }),
      title: t.string({
        nullable: true,
        resolve: ({ title }, _, { budget }, info) => budget.spendText(title, info),
      }),
      icon: t.string({
        nullable: true,
        resolve: ({ icon }, _, { budget }, info) => budget.spendText(icon, info),
      }),
      description: t.string({
        nullable: true,
        resolve: ({ description }, _, { budget }, info) => budget.spendText(description, info),
      }),
      properties: t.field({
        type: 'JSON',
        nullable: true,
        resolve: ({ properties }, _, { budget }, info) => budget.spendText(properties, info),
      }),
    }),
  });

  builder.queryField('exportFolders', (t) =>
    t.field({
      type: [ExportedFolder],
      description:
        'Everything inside a folder as a flat list, each folder right before what is inside it. Has a budget of its own, so that a whole tree goes in one answer.',
      args: {
        id: t.arg.id({ description: 'The folder; without it, the root.' }),
        depth: t.arg.int({ description: 'Only so many levels; 1 is the sub-folders.' }),
      },
      extensions: longField,
      resolve: async (_, { id, depth }, context, info) => {
        const { view, limits, budget, database } = context;
        const reportDamage = (finding: string) => database.reportDamage(finding);
        const options = { depth: toDepth(depth), maxFolders: limits.maxExportFolders, reportDamage };
        const top = typeof id === 'string' ? await requireFolder(view, id) : await readRoot(view);
        return completeInSlices(
          budget.spendExport(await exportFolders(view, top, options), info),
          context,
          info,
        );
      },
    }),
  );
}

/** Reads a folder that the viewer may see. */
export async function nodeById(context: GraphContext, id: string): Promise<FolderNode> {
  return toFolderNode(context.view, await requireFolder(context.view, id));
}

/**
 * A folder that was just changed, as the viewer may see it in the snapshot of the response. It may have been deleted, or hidden
 * from the viewer, between the commit and the snapshot. The response then contains its name and nothing that needs a right. A
 * change that was made earlier, under the same idempotency key, has no such folder: NOT_FOUND.
 */
export async function nodeOfChanged(
  { id, folder: changed, pathIds }: ChangedFolder,
  { view }: GraphContext,
  since?: SinceCommit,
): Promise<FolderNode> {
  if (!changed) return toFolderNode(view, await requireFolder(view, id));
  // The ancestors are still the same, so they need not be read.
  if (pathIds && since?.isAccessSame) view.ancestry.setPath(pathIds);
  const folder = since?.isLatest ? changed : await readFolder(view, id);
  return toFolderNode(view, folder ?? withLevel(changed, accessLevels.NONE));
}

function findFolder(
  view: TreeView,
  id: string | null | undefined,
  path: string | null | undefined,
): PromiseOrValue<Folder | undefined> {
  if (typeof id === 'string' && typeof path === 'string') {
    throw new Refusal('BAD_INPUT', 'Give `id` or `path`, not both.');
  }
  if (typeof id === 'string') return readFolder(view, id);
  if (typeof path === 'string') return readFolderByPath(view, splitPath(path));
  return readRoot(view);
}

/** Splits a path into names. "/" is the root; a trailing slash is ignored. */
function splitPath(path: string): string[] {
  if (path.length > maxPathLength) {
    throw new Refusal('BAD_INPUT', `A \`path\` has at most ${maxPathLength} characters.`);
  }
  if (!path.startsWith('/')) throw new Refusal('BAD_INPUT', 'A `path` starts at the root, with a slash.');
  const trimmed = path.slice(1).replace(/\/$/, '');
  return trimmed === '' ? [] : trimmed.split('/');
}
