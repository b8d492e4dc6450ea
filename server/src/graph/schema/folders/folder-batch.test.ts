import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accessLevels, type Access } from '../../../access/access.ts';
import { Ancestry } from '../../../access/ancestry.ts';
import type { ConsistentReader } from '../../../database/database.ts';
import type { Folder, TreeView } from '../../../folders/tree-view.ts';
import { toFolderNode } from './folder-batch.ts';

const { READ } = accessLevels;

function folderOf(id: string, parentId: string | null): Folder {
  const times = { createdAt: 0, updatedAt: 0 };
  return { id, parentId, name: id, title: null, childCount: 0, version: 1, accessLevel: READ, ...times };
}

/** A view of a tree in which every folder is visible. */
function viewOf(folders: readonly Folder[]): TreeView {
  const rows = new Map(folders.map((folder) => [folder.id, folder]));
  const reader = {
    isConsistent: true,
    isEmbedded: true,
    all: (_: unknown, { ids }: { ids: readonly string[] }) => ids.flatMap((id) => rows.get(id) ?? []),
  } as unknown as ConsistentReader;
  const access = { levelAt: () => READ, isVisible: () => true } as unknown as Access;
  return { reader, access, ancestry: new Ancestry(reader, 'root'), rows };
}

const tree = [folderOf('root', null), folderOf('old', 'root'), folderOf('new', 'root')];
const idsAbove = async (view: TreeView, folder: Folder) =>
  (await toFolderNode(view, folder).ancestors).map(({ id }) => id);

test('places a folder below its parent if the view has not loaded its location', async () => {
  const view = viewOf(tree);
  view.ancestry.setParent('old', 'root');
  assert.deepEqual(await idsAbove(view, folderOf('moved', 'old')), ['root', 'old']);
});

test('uses the location that the view has loaded instead of an outdated parent', async () => {
  const view = viewOf(tree);
  view.ancestry.setParent('new', 'root');
  view.ancestry.setParent('moved', 'new');
  assert.deepEqual(await idsAbove(view, folderOf('moved', 'old')), ['root', 'new']);
  assert.deepEqual(view.ancestry.pathTo('moved'), ['root', 'new', 'moved']);
});
