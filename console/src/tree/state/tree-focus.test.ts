import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { ModelServer } from './model-server.testbed.ts';
import { TreeFocus } from './tree-focus.ts';
import { TreeStore } from './tree-store.ts';

let server: ModelServer;
let store: TreeStore;
let focus: TreeFocus;
const id: Record<string, string> = {};

/** Root, a with a1 and a2 inside, b, c. */
beforeEach(() => {
  server = new ModelServer();
  for (const name of ['a', 'b', 'c']) id[name] = server.addSilently('root', name);
  for (const name of ['a1', 'a2']) id[name] = server.addSilently(id['a']!, name);
  store = new TreeStore();
  store.setRoot(server.row('root'));
  read('root');
  store.expand(id['a']!);
  read(id['a']!);
  focus = new TreeFocus(store);
});

function read(parentId: string): void {
  const rows = server.children(parentId).map((one) => server.row(one.id));
  store.putRange(parentId, { from: 0, to: rows.length }, rows, rows.length);
}

test('keeps the focus on its folder when rows are added before it', () => {
  focus.moveTo(4);
  assert.equal(focus.folder?.name, 'b');
  store.upsert(server.row(server.addSilently('root', 'a0')));
  assert.equal(focus.index, 5);
  assert.equal(focus.folder?.name, 'b');
});

test('moves the focus to the row after a deleted folder, and to a collapsed ancestor', () => {
  focus.moveTo(4);
  store.remove(id['b']!);
  assert.equal(focus.folder?.name, 'c');
  focus.moveToFolder(id['a2']!);
  store.collapse(id['a']!);
  assert.equal(focus.folder?.name, 'a');
});

test('moves the focus from an unloaded row to its folder once it is loaded', () => {
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

test('extends a selection from its anchor in both directions', () => {
  focus.moveTo(2);
  focus.extendTo(4);
  assert.deepEqual([...focus.selected].sort(), [id['a1'], id['a2'], id['b']].sort());
  focus.extendTo(1);
  assert.deepEqual([...focus.selected].sort(), [id['a'], id['a1']].sort());
});

test('applies an action to the whole selection without its nested folders', () => {
  focus.select(id['a']!);
  focus.toggle(id['a1']!);
  focus.toggle(id['c']!);
  const names = (of: string) => focus.selectionFor(store.folder(id[of]!)!).map(({ name }) => name);
  assert.deepEqual(names('c'), ['a', 'c']);
  assert.deepEqual(names('b'), ['b'], 'a folder outside the selection is used alone');
});

test('returns a scroll target once, when its row is loaded', () => {
  focus.scrollTo('later', 'middle');
  assert.equal(focus.takeScrollTarget(), null);
  store.upsert({ ...server.row(id['c']!), id: 'later', name: 'd' });
  assert.equal(focus.takeScrollTarget()?.index, 6);
  assert.equal(focus.takeScrollTarget(), null);
});
