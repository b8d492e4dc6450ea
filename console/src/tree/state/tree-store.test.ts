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

/** A root with so many folders, each with so many inside; all of the first level is read. */
function planted(count: number, inside: number): TreeStore {
  const store = new TreeStore();
  store.setRoot(row('root', null, count));
  const all = Array.from({ length: count }, (_, at) => row(`a${at}`, 'root', inside));
  store.putRange('root', { from: 0, to: count }, all, count);
  return store;
}

const nameAt = (store: TreeStore, index: number) => store.rowAt(index)?.folder?.name;

describe('the rows of a tree', () => {
  test('are the root and what is inside open folders, each with its place among its siblings', () => {
    const store = planted(3, 2);
    store.open('a1');
    assert.equal(store.rowCount, 6);
    assert.deepEqual(
      Array.from({ length: 6 }, (_, index) => nameAt(store, index)),
      ['root', 'a0', 'a1', undefined, undefined, 'a2'],
    );
    assert.deepEqual(store.rowAt(4), {
      folder: null,
      parentId: 'a1',
      place: 1,
      siblings: 2,
      depth: 2,
      isOpen: false,
    });
    store.close('a1');
    assert.equal(store.rowCount, 4);
    assert.equal(store.rowAt(4), null);
  });

  test('are found the same way in both directions, whatever is open and read', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 0, max: 4 }),
        fc.array(fc.nat({ max: 40 }), { maxLength: 15 }),
        (count, inside, opened) => {
          const store = planted(count, inside);
          for (const at of opened) {
            const id = `a${at}`;
            if (store.isOpen(id)) store.close(id);
            else if (store.folder(id)) {
              store.open(id);
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

  test('of a million folders are found without walking over them', () => {
    const store = new TreeStore();
    store.setRoot(row('root', null, 1_000_000));
    store.putAt(row('far', 'root', 100_000), 93_512, 1_000_000);
    store.open('far');
    assert.equal(store.rowCount, 1_100_001);
    assert.equal(store.indexOf('far'), 93_513);
    const last = store.rowAt(1_100_000)!;
    assert.deepEqual([last.parentId, last.position, last.siblingCount], ['root', 999_999, 1_000_000]);
    const within = store.rowAt(93_513 + 70_001)!;
    assert.deepEqual([within.parentId, within.position, within.depth], ['far', 70_000, 2]);
  });
});

describe('a change', () => {
  test('puts a new folder where it belongs, in a level that is wholly known', () => {
    const store = planted(3, 0);
    store.upsert(row('new', 'root', 0, 'a1b'));
    assert.deepEqual(
      Array.from({ length: 5 }, (_, index) => nameAt(store, index)),
      ['root', 'a0', 'a1', 'a1b', 'a2'],
    );
    assert.equal(store.root!.folders.totalCount, 4);
  });

  test('of a level that is known in part has it read again, and loses no row that is shown', () => {
    const store = new TreeStore();
    store.setRoot(row('root', null, 5_000));
    store.putRange('root', { from: 0, to: 2 }, [row('a', 'root', 0), row('c', 'root', 0)], 5_000);
    store.upsert(row('b', 'root', 0));
    assert.equal(store.level('root')!.isStale, true);
    assert.deepEqual([nameAt(store, 1), nameAt(store, 2)], ['a', 'c']);
  });

  test('of a name moves the folder, with what is open inside', () => {
    const store = planted(3, 1);
    store.open('a0');
    store.upsert({ ...store.folder('a0')!, name: 'z' });
    assert.equal(store.indexOf('a0'), 3);
    assert.equal(store.isOpen('a0'), true);
    assert.equal(store.rowCount, 5);
  });

  test('takes a folder away with all that was known inside it', () => {
    const store = planted(2, 1);
    store.open('a0');
    store.putRange('a0', { from: 0, to: 1 }, [row('b', 'a0', 0)], 1);
    store.remove('a0');
    assert.equal(store.folder('b'), undefined);
    assert.equal(store.rowCount, 2);
    store.remove('a0');
    assert.equal(store.rowCount, 2);
  });

  test('that empties a folder closes it, and one that fills it can be opened again', () => {
    const store = planted(1, 1);
    store.open('a0');
    store.putRange('a0', { from: 0, to: 1 }, [row('b', 'a0', 0)], 1);
    store.remove('b');
    assert.equal(store.isOpen('a0'), false);
    assert.equal(store.folder('a0')!.folders.totalCount, 0);
    store.upsert(row('c', 'a0', 0));
    assert.equal(store.folder('a0')!.folders.totalCount, 1);
  });
});

test('what is inside is read again after a move, and after a change of access, though its own level is the same', () => {
  const told: [FolderChange['kind'], at: string | null, isReadAgain: boolean][] = [
    ['UPDATE', '2026-03-01T10:00:00.000Z', false],
    ['UPDATE', null, true],
    ['MOVE', '2026-03-01T10:00:00.000Z', true],
  ];
  for (const [kind, at, isReadAgain] of told) {
    const store = planted(1, 1);
    store.putRange('a0', { from: 0, to: 1 }, [row('b', 'a0', 0)], 1);
    const rest = { cursor: '', oldParent: null, newParent: null, folderCount: null, by: null };
    applyChange(store, { kind, folderId: 'a0', at, folder: store.folder('a0')!, ...rest });
    assert.equal(store.level('a0')!.isStale, isReadAgain, `${kind} at ${at}`);
  }
});

test('a folder that seems to be inside itself is dropped until it is known where it is', () => {
  const planted2 = () => {
    const store = planted(2, 1);
    store.open('a0');
    store.putRange('a0', { from: 0, to: 1 }, [row('b', 'a0', 0)], 1);
    return store;
  };
  // On the server, b went to the root and then a0 into b: the second is known before the first.
  const told = planted2();
  told.upsert({ ...told.folder('a0')!, parent: { id: 'b' } });
  assert.equal(told.folder('a0'), undefined);
  told.upsert(row('b', 'root', 1));
  assert.equal(told.indexOf('b'), 2);
  assert.equal(told.rowCount, 3);

  const read = planted2();
  read.putRange('b', { from: 0, to: 1 }, [row('a0', 'b', 1)], 1);
  assert.equal(read.folder('a0'), undefined);
  assert.equal(read.rowCount, 2);
});

test('listeners are told once of many changes', async () => {
  const store = planted(2, 0);
  await Promise.resolve();
  let told = 0;
  store.subscribe(() => told++);
  const before = store.version();
  store.upsert(row('b', 'root', 0));
  store.upsert(row('c', 'root', 0));
  await Promise.resolve();
  assert.equal(told, 1);
  assert.ok(store.version() > before);
});
