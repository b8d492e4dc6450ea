import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { FolderChange, FolderRow } from '../../graph/live.tsx';
import { applyChange } from './tree-loader.ts';
import { TreeStore } from './tree-store.ts';

function row(id: string, parentId: string | null, inside: number, name = id): FolderRow {
  const parent = parentId === null ? null : { id: parentId };
  const folders = { totalCount: inside };
  return { id, name, title: name, icon: null, accessLevel: 'MANAGE', version: 1, parent, folders };
}

/** A root with `count` folders, each with `inside` children. The first level is loaded. */
function createStore(count: number, inside: number): TreeStore {
  const store = new TreeStore();
  store.setRoot(row('root', null, count));
  const all = Array.from({ length: count }, (_, at) => row(`a${at}`, 'root', inside));
  store.putRange('root', { from: 0, to: count }, all, count);
  return store;
}

const nameAt = (store: TreeStore, index: number) => store.rowAt(index)?.folder?.name;

describe('TreeStore', () => {
  test('lists the root and the children of expanded folders with their positions', () => {
    const store = createStore(3, 2);
    store.expand('a1');
    assert.equal(store.rowCount, 6);
    assert.deepEqual(
      Array.from({ length: 6 }, (_, index) => nameAt(store, index)),
      ['root', 'a0', 'a1', undefined, undefined, 'a2'],
    );
    assert.deepEqual(store.rowAt(4), {
      folder: null,
      parentId: 'a1',
      position: 1,
      siblingCount: 2,
      depth: 2,
      isExpanded: false,
    });
    store.collapse('a1');
    assert.equal(store.rowCount, 4);
    assert.equal(store.rowAt(4), null);
  });

  test('maps rows to folders and back, whatever is expanded and loaded', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 0, max: 4 }),
        fc.array(fc.nat({ max: 40 }), { maxLength: 15 }),
        (count, inside, expanded) => {
          const store = createStore(count, inside);
          for (const at of expanded) {
            const id = `a${at}`;
            if (store.isExpanded(id)) store.collapse(id);
            else if (store.folder(id)) {
              store.expand(id);
              const children = Array.from({ length: inside }, (_, each) => row(`${id}/${each}`, id, 0));
              if (at % 3 !== 0) store.putRange(id, { from: 0, to: inside }, children, inside);
            }
          }
          let rows = 0;
          for (; store.rowAt(rows); rows++) {
            const { folder, parentId, position } = store.rowAt(rows)!;
            if (folder) assert.equal(store.indexOf(folder.id), rows);
            if (parentId !== null) assert.equal(store.indexOfPosition(parentId, position), rows);
          }
          assert.equal(rows, store.rowCount);
        },
      ),
    );
  });

  test('finds rows among a million folders without iterating over them', () => {
    const store = new TreeStore();
    store.setRoot(row('root', null, 1_000_000));
    store.putAt(row('far', 'root', 100_000), 93_512, 1_000_000);
    store.expand('far');
    assert.equal(store.rowCount, 1_100_001);
    assert.equal(store.indexOf('far'), 93_513);
    const last = store.rowAt(1_100_000)!;
    assert.deepEqual([last.parentId, last.position, last.siblingCount], ['root', 999_999, 1_000_000]);
    const within = store.rowAt(93_513 + 70_001)!;
    assert.deepEqual([within.parentId, within.position, within.depth], ['far', 70_000, 2]);
  });

  test('inserts a new folder at its sorted position in a complete level', () => {
    const store = createStore(3, 0);
    store.upsert(row('new', 'root', 0, 'a1b'));
    assert.deepEqual(
      Array.from({ length: 5 }, (_, index) => nameAt(store, index)),
      ['root', 'a0', 'a1', 'a1b', 'a2'],
    );
    assert.equal(store.root!.folders.totalCount, 4);
  });

  test('keeps the rows of a partly loaded level that it marks as stale', () => {
    const store = new TreeStore();
    store.setRoot(row('root', null, 5_000));
    store.putRange('root', { from: 0, to: 2 }, [row('a', 'root', 0), row('c', 'root', 0)], 5_000);
    store.upsert(row('b', 'root', 0));
    assert.equal(store.level('root')!.isStale, true);
    assert.deepEqual([nameAt(store, 1), nameAt(store, 2)], ['a', 'c']);
  });

  test('moves a renamed folder together with its expanded subtree', () => {
    const store = createStore(3, 1);
    store.expand('a0');
    store.upsert({ ...store.folder('a0')!, name: 'z' });
    assert.equal(store.indexOf('a0'), 3);
    assert.equal(store.isExpanded('a0'), true);
    assert.equal(store.rowCount, 5);
  });

  test('removes a folder with its loaded descendants', () => {
    const store = createStore(2, 1);
    store.expand('a0');
    store.putRange('a0', { from: 0, to: 1 }, [row('b', 'a0', 0)], 1);
    store.remove('a0');
    assert.equal(store.folder('b'), undefined);
    assert.equal(store.rowCount, 2);
    store.remove('a0');
    assert.equal(store.rowCount, 2);
  });

  test('collapses a folder that becomes empty, and expands it again when it gets a child', () => {
    const store = createStore(1, 1);
    store.expand('a0');
    store.putRange('a0', { from: 0, to: 1 }, [row('b', 'a0', 0)], 1);
    store.remove('b');
    assert.equal(store.isExpanded('a0'), false);
    assert.equal(store.folder('a0')!.folders.totalCount, 0);
    store.upsert(row('c', 'a0', 0));
    assert.equal(store.folder('a0')!.folders.totalCount, 1);
  });
});

test('marks a subtree as stale after a move and after an access change', () => {
  const cases: [FolderChange['kind'], at: string | null, isReadAgain: boolean][] = [
    ['UPDATE', '2026-03-01T10:00:00.000Z', false],
    ['UPDATE', null, true],
    ['MOVE', '2026-03-01T10:00:00.000Z', true],
  ];
  for (const [kind, at, isReadAgain] of cases) {
    const store = createStore(1, 1);
    store.putRange('a0', { from: 0, to: 1 }, [row('b', 'a0', 0)], 1);
    const rest = { cursor: '', oldParent: null, newParent: null, folderCount: null, by: null };
    applyChange(store, { kind, folderId: 'a0', at, folder: store.folder('a0')!, ...rest });
    assert.equal(store.level('a0')!.isStale, isReadAgain, `${kind} at ${at}`);
  }
});

test('removes a folder that seems to be inside itself', () => {
  const createNested = () => {
    const store = createStore(2, 1);
    store.expand('a0');
    store.putRange('a0', { from: 0, to: 1 }, [row('b', 'a0', 0)], 1);
    return store;
  };
  // On the server, b moved to the root and then a0 into b. The second move arrives first.
  const fromEvents = createNested();
  fromEvents.upsert({ ...fromEvents.folder('a0')!, parent: { id: 'b' } });
  assert.equal(fromEvents.folder('a0'), undefined);
  fromEvents.upsert(row('b', 'root', 1));
  assert.equal(fromEvents.indexOf('b'), 2);
  assert.equal(fromEvents.rowCount, 3);

  const fromReads = createNested();
  fromReads.putRange('b', { from: 0, to: 1 }, [row('a0', 'b', 1)], 1);
  assert.equal(fromReads.folder('a0'), undefined);
  assert.equal(fromReads.rowCount, 2);
});

test('notifies listeners once for several changes', async () => {
  const store = createStore(2, 0);
  await Promise.resolve();
  let notifications = 0;
  store.subscribe(() => notifications++);
  const before = store.version();
  store.upsert(row('b', 'root', 0));
  store.upsert(row('c', 'root', 0));
  await Promise.resolve();
  assert.equal(notifications, 1);
  assert.ok(store.version() > before);
});
