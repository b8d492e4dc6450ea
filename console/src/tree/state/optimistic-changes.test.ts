import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ModelServer } from './model-server.test-bed.ts';
import { applyChange } from './tree-loader.ts';
import { foreseeMove, foreseeRemoval, foreseeTexts } from './optimistic-changes.ts';
import { TreeStore } from './tree-store.ts';

function bed() {
  const server = new ModelServer();
  const [a, b] = [server.plant('root', 'a'), server.plant('root', 'b')];
  const inside = server.plant(a, 'inside');
  const store = new TreeStore();
  store.setRoot(server.row('root'));
  for (const id of ['root', a]) {
    const rows = server.children(id).map((one) => server.row(one.id));
    store.putRange(id, { from: 0, to: rows.length }, rows, rows.length);
  }
  store.open(a);
  const names = () =>
    Array.from({ length: store.rowCount }, (_, index) => store.rowAt(index)!.folder?.name ?? '…').join(' ');
  return { server, store, a, b, inside, names };
}

test('a new name is shown where it belongs, and the old one again if it was refused', () => {
  const { store, a, names } = bed();
  const takeBack = foreseeTexts(store, a, { name: 'z' });
  assert.equal(names(), 'Root b z inside');
  assert.equal(store.folder(a)!.title, 'z', 'the title is the name, unless there is one');
  takeBack();
  assert.equal(names(), 'Root a inside b');
});

test('a title of its own stays when the name changes, and goes when it is taken away', () => {
  const { store, a } = bed();
  foreseeTexts(store, a, { title: 'Alpha' });
  foreseeTexts(store, a, { name: 'z' });
  assert.equal(store.folder(a)!.title, 'Alpha');
  foreseeTexts(store, a, { title: null });
  assert.equal(store.folder(a)!.title, 'z');
});

test('a moved folder is in its new place, with what is open inside, and back if it was refused', () => {
  const { store, a, b, names } = bed();
  store.open(b);
  const takeBack = foreseeMove(store, a, b);
  assert.equal(store.folder(b)!.folders.totalCount, 1);
  assert.equal(store.folder(a)!.parent!.id, b);
  takeBack();
  assert.equal(names(), 'Root a inside b');
});

test('a deleted folder is gone at once, and open again if it was refused', () => {
  const { store, a, names } = bed();
  const takeBack = foreseeRemoval(store, a);
  assert.equal(names(), 'Root b');
  takeBack();
  assert.equal(store.isOpen(a), true);
  assert.equal(names(), 'Root a … b');
});

test('what is not shown has nothing to foresee', () => {
  const { store, names } = bed();
  foreseeRemoval(store, 'elsewhere')();
  foreseeMove(store, 'elsewhere', 'root')();
  foreseeTexts(store, 'elsewhere', { name: 'x' })();
  assert.equal(names(), 'Root a inside b');
});

test('what somebody else did meanwhile stays when a new name is refused', () => {
  const { server, store, a, names } = bed();
  const takeBack = foreseeTexts(store, a, { name: 'z' });
  applyChange(store, server.rename(a, 'm'));
  takeBack();
  assert.equal(names(), 'Root b m inside');
  assert.equal(store.level('root')!.isStale, true, 'and is read again');
});

test('a refused name is taken back also if something was made inside meanwhile, which is counted', () => {
  const { server, store, a, names } = bed();
  const takeBack = foreseeTexts(store, a, { name: 'z' });
  applyChange(store, server.create(a, 'new'));
  takeBack();
  assert.equal(names(), 'Root a inside new b');
  assert.equal(store.folder(a)!.folders.totalCount, 2);
});

test('what somebody else moved meanwhile stays there when another move is refused', () => {
  const { server, store, a, b, inside } = bed();
  store.open(b);
  const takeBack = foreseeMove(store, inside, b);
  applyChange(store, server.move(inside, 'root'));
  takeBack();
  assert.equal(store.folder(inside)!.parent!.id, 'root');
  assert.deepEqual(
    [a, b].map((id) => store.folder(id)!.folders.totalCount),
    [0, 0],
  );
});

test('what somebody else deleted meanwhile stays gone when a removal finds nothing', () => {
  const { server, store, a, names } = bed();
  const takeBack = foreseeRemoval(store, a);
  applyChange(store, server.remove(a));
  takeBack();
  assert.equal(names(), 'Root b');
  assert.equal(store.root!.folders.totalCount, 1);
});

test('what was told anew while its removal was refused is shown as it was told', () => {
  const { server, store, a, names } = bed();
  const takeBack = foreseeRemoval(store, a);
  applyChange(store, server.rename(a, 'm'));
  takeBack();
  assert.equal(names(), 'Root b m …');
  assert.equal(store.root!.folders.totalCount, 2);
});
