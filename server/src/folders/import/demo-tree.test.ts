import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { databaseKinds, type TestDatabase } from '../../../../tests/support/databases.ts';
import type { ConsistentReader, Database } from '../../database/database.ts';
import { openDatabase } from '../../database/open-database.ts';
import { Access } from '../../access/access.ts';
import { Ancestry } from '../../access/ancestry.ts';
import { runChange } from '../../journal/journal.ts';
import { addChildren } from '../change-rules.ts';
import { readChildren } from '../children/children.ts';
import { createDemoTree } from './demo-tree.ts';
import { ensureRoot, insertRow, newRow } from '../new-folder-rows.ts';
import { readRoot, viewTree, type Folder, type TreeView } from '../tree-view.ts';

const now = Date.UTC(2026, 0, 31, 12);

for (const kind of databaseKinds) {
  describe(`the demo tree on ${kind.name}`, () => {
    let testDatabase: TestDatabase;
    let database: Database;

    beforeEach(async () => {
      testDatabase = await kind.create();
      database = await openDatabase(testDatabase.url, { now: () => now });
      await database.transaction((transaction) => ensureRoot(transaction, 'Root', now));
    });

    afterEach(async () => {
      await database.close();
      await testDatabase.remove();
    });

    const createTree = () => runChange(database, (transaction) => createDemoTree(transaction, now));

    test('has at least three levels and two hundred folders', async () => {
      await createTree();
      const levels = await levelsOf(database);
      assert.ok(levels.length >= 3, `${levels.length} levels`);
      assert.ok(levels.flat().length >= 200, `${levels.flat().length} folders`);
    });

    test('contains names that show the natural order', async () => {
      await createTree();
      const names = (await levelsOf(database)).flat().map(({ name }) => name);
      assert.ok(names.includes('Floor 2') && names.includes('Floor 10'));
      const top = (await levelsOf(database))[0]!.map(({ name }) => name);
      assert.deepEqual(top, top.toSorted());
    });

    test('does not change when it is created a second time', async () => {
      await createTree();
      const treeBefore = await levelsOf(database);
      await createTree();
      assert.deepEqual(await levelsOf(database), treeBefore);
    });

    test('is not created if the tree already has a folder', async () => {
      await database.transaction(async (transaction) => {
        const { rootId } = await Ancestry.open(transaction);
        insertRow(transaction, newRow({ parentId: rootId, name: 'Mine' }, now));
        await addChildren(transaction, [rootId], { count: 1, addedDepth: 1 });
      });
      const treeBefore = await levelsOf(database);
      await createTree();
      assert.deepEqual(await levelsOf(database), treeBefore);
    });

    test('leaves no folder if its creation is rolled back', async () => {
      const failing = runChange(database, async (transaction) => {
        await createDemoTree(transaction, now);
        throw new Error('on purpose');
      });
      await assert.rejects(failing, /on purpose/);
      assert.deepEqual(await levelsOf(database), []);
    });
  });
}

async function viewOf(reader: ConsistentReader): Promise<TreeView> {
  const { rootId } = await Ancestry.open(reader);
  return viewTree(
    reader,
    new Access({ userId: 'x', groupIds: [], isAdministrator: true, grants: [], rootId }),
  );
}

async function childrenOf(reader: ConsistentReader, parents: readonly Folder[]): Promise<Folder[]> {
  const { byParent } = await readChildren(await viewOf(reader), parents, {}, 10_000);
  return [...byParent.values()].flatMap(({ folders }) => folders);
}

/** The folders below the root, one list for each level. */
function levelsOf(database: Database): Promise<Folder[][]> {
  return database.shortSnapshot(async (reader) => {
    const levels: Folder[][] = [];
    let above = [await readRoot(await viewOf(reader))];
    for (;;) {
      const level = await childrenOf(reader, above);
      if (level.length === 0) return levels;
      levels.push(level);
      above = level;
    }
  });
}
