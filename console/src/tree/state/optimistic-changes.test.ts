import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModelServer } from './model-server.testbed.ts';
import { applyChange } from './tree-loader.ts';
import { moveOptimistically, removeOptimistically, updateTextsOptimistically } from './optimistic-changes.ts';
import { TreeStore } from './tree-store.ts';

function createTree() {
  const server = new ModelServer();
  const [a, b] = [server.addSilently('root', 'a'), server.addSilently('root', 'b')];
  const inside = server.addSilently(a, 'inside');
  const store = new TreeStore();
  store.setRoot(server.row('root'));
  for (const id of ['root', a]) {
    const rows = server.children(id).map((one) => server.row(one.id));
    store.putRange(id, { from: 0, to: rows.length }, rows, rows.length);
  }
  store.expand(a);
  const names = () =>
    Array.from({ length: store.rowCount }, (_, index) => store.rowAt(index)!.folder?.name ?? '…').join(' ');
  return { server, store, a, b, inside, names };
}

test('sorts a renamed folder immediately, and restores the old name on rollback', () => {
  const { store, a, names } = createTree();
  const rollback = updateTextsOptimistically(store, a, { name: 'z' });
  assert.equal(names(), 'Root b z inside');
  assert.equal(store.folder(a)!.title, 'z', 'the title follows the name');
  rollback();
  assert.equal(names(), 'Root a inside b');
});

test('keeps a separate title after a rename, and replaces a removed title with the name', () => {
  const { store, a } = createTree();
  updateTextsOptimistically(store, a, { title: 'Alpha' });
  updateTextsOptimistically(store, a, { name: 'z' });
  assert.equal(store.folder(a)!.title, 'Alpha');
  updateTextsOptimistically(store, a, { title: null });
  assert.equal(store.folder(a)!.title, 'z');
});

test('moves a folder with its expanded subtree, and moves it back on rollback', () => {
  const { store, a, b, names } = createTree();
  store.expand(b);
  const rollback = moveOptimistically(store, a, b);
  assert.equal(store.folder(b)!.folders.totalCount, 1);
  assert.equal(store.folder(a)!.parent!.id, b);
  rollback();
  assert.equal(names(), 'Root a inside b');
});

test('removes a folder immediately, and restores it expanded on rollback', () => {
  const { store, a, names } = createTree();
  const rollback = removeOptimistically(store, a);
  assert.equal(names(), 'Root b');
  rollback();
  assert.equal(store.isExpanded(a), true);
  assert.equal(names(), 'Root a … b');
});

test('ignores folders that are not loaded', () => {
  const { store, names } = createTree();
  removeOptimistically(store, 'elsewhere')();
  moveOptimistically(store, 'elsewhere', 'root')();
  updateTextsOptimistically(store, 'elsewhere', { name: 'x' })();
  assert.equal(names(), 'Root a inside b');
});

test('keeps another user’s rename when the viewer’s own rename is rolled back', () => {
  const { server, store, a, names } = createTree();
  const rollback = updateTextsOptimistically(store, a, { name: 'z' });
  applyChange(store, server.rename(a, 'm'));
  rollback();
  assert.equal(names(), 'Root b m inside');
  assert.equal(store.level('root')!.isStale, true, 'the level is read again');
});

test('rolls back a rename after another user has added a child, and keeps the new child count', () => {
  const { server, store, a, names } = createTree();
  const rollback = updateTextsOptimistically(store, a, { name: 'z' });
  applyChange(store, server.create(a, 'new'));
  rollback();
  assert.equal(names(), 'Root a inside new b');
  assert.equal(store.folder(a)!.folders.totalCount, 2);
});

test('keeps another user’s move when the viewer’s own move is rolled back', () => {
  const { server, store, a, b, inside } = createTree();
  store.expand(b);
  const rollback = moveOptimistically(store, inside, b);
  applyChange(store, server.move(inside, 'root'));
  rollback();
  assert.equal(store.folder(inside)!.parent!.id, 'root');
  assert.deepEqual(
    [a, b].map((id) => store.folder(id)!.folders.totalCount),
    [0, 0],
  );
});

test('does not restore a folder on rollback if another user has deleted it', () => {
  const { server, store, a, names } = createTree();
  const rollback = removeOptimistically(store, a);
  applyChange(store, server.remove(a));
  rollback();
  assert.equal(names(), 'Root b');
  assert.equal(store.root!.folders.totalCount, 1);
});

test('shows the newest state of a folder whose removal is rolled back', () => {
  const { server, store, a, names } = createTree();
  const rollback = removeOptimistically(store, a);
  applyChange(store, server.rename(a, 'm'));
  rollback();
  assert.equal(names(), 'Root b m …');
  assert.equal(store.root!.folders.totalCount, 2);
});
