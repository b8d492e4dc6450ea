import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { ModelServer } from './model-server.test-bed.ts';
import { TreeFocus } from './tree-focus.ts';
import { TreeStore } from './tree-store.ts';

let server: ModelServer;
let store: TreeStore;
let focus: TreeFocus;
const id: Record<string, string> = {};

/** Root, a with a1 and a2 inside, b, c. */
beforeEach(() => {
  server = new ModelServer();
  for (const name of ['a', 'b', 'c']) id[name] = server.plant('root', name);
  for (const name of ['a1', 'a2']) id[name] = server.plant(id['a']!, name);
  store = new TreeStore();
  store.setRoot(server.row('root'));
  read('root');
  store.open(id['a']!);
  read(id['a']!);
  focus = new TreeFocus(store);
});

function read(parentId: string): void {
  const rows = server.children(parentId).map((one) => server.row(one.id));
  store.putRange(parentId, { from: 0, to: rows.length }, rows, rows.length);
}

test('the focus stays on its folder when rows come before it', () => {
  focus.moveTo(4);
  assert.equal(focus.folder?.name, 'b');
  store.upsert(server.row(server.plant('root', 'a0')));
  assert.equal(focus.index, 5);
  assert.equal(focus.folder?.name, 'b');
});

test('the focus goes to what follows a folder that is deleted, and to one that closes above it', () => {
  focus.moveTo(4);
  store.remove(id['b']!);
  assert.equal(focus.folder?.name, 'c');
  focus.moveToFolder(id['a2']!);
  store.close(id['a']!);
  assert.equal(focus.folder?.name, 'a');
});

test('the focus on a row that is not read yet is on its folder once it is', () => {
  const other = new TreeStore();
  other.setRoot(server.row('root'));
  const waiting = new TreeFocus(other);
  waiting.moveTo(2);
  assert.equal(waiting.folder?.name, undefined);
  other.putRange(
    'root',
    { from: 0, to: 3 },
    server.children('root').map((one) => server.row(one.id)),
    3,
  );
  assert.equal(waiting.folder?.name, 'b');
});

test('a selection is extended from where it began, in both directions', () => {
  focus.moveTo(2);
  focus.extendTo(4);
  assert.deepEqual([...focus.selected].sort(), [id['a1'], id['a2'], id['b']].sort());
  focus.extendTo(1);
  assert.deepEqual([...focus.selected].sort(), [id['a'], id['a1']].sort());
});

test('what is done is done with all that are selected, but not twice with what is inside them', () => {
  focus.select(id['a']!);
  focus.toggle(id['a1']!);
  focus.toggle(id['c']!);
  const names = (of: string) => focus.chosen(store.folder(id[of]!)!).map(({ name }) => name);
  assert.deepEqual(names('c'), ['a', 'c']);
  assert.deepEqual(names('b'), ['b'], 'one that is not selected is taken alone');
});

test('a goal waits for its row, and is reached once', () => {
  focus.show('later', 'middle');
  assert.equal(focus.takeGoal(), null);
  store.upsert({ ...server.row(id['c']!), id: 'later', name: 'd' });
  assert.equal(focus.takeGoal()?.index, 6);
  assert.equal(focus.takeGoal(), null);
});
