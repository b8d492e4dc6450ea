import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type { Database, Reader } from '../database/database.ts';
import { openDatabase } from '../database/open-database.ts';
import { insertFolder } from './change-folders.ts';
import { plantDemoTree } from './demo-tree.ts';
import { readChildren, readRoot, type Folder } from './folders.ts';

const now = Date.UTC(2026, 0, 31, 12);

let place: string;
let database: Database;

beforeEach(async () => {
  place = mkdtempSync(join(tmpdir(), 'espalier-test-'));
  database = await openDatabase(`sqlite:${join(place, 'espalier.db')}`, { now: () => now });
  await database.transaction((transaction) =>
    insertFolder(transaction, { parentId: null, name: 'Root' }, now),
  );
});

afterEach(async () => {
  await database.close();
  rmSync(place, { recursive: true });
});

const plant = () => database.transaction((transaction) => plantDemoTree(transaction, now));

/** The folders below the root, a list for each level. */
async function levelsOf(reader: Reader): Promise<Folder[][]> {
  const levels: Folder[][] = [];
  let above = [await readRoot(reader)];
  for (;;) {
    const ids = above.map(({ id }) => id);
    const level = [...(await readChildren(reader, ids, {})).values()].flatMap(({ folders }) => folders);
    if (level.length === 0) return levels;
    levels.push(level);
    above = level;
  }
}

test('the demonstration tree has at least three levels and two hundred folders', async () => {
  await plant();
  const levels = await levelsOf(database);
  assert.ok(levels.length >= 3, `${levels.length} levels`);
  assert.ok(levels.flat().length >= 200, `${levels.flat().length} folders`);
});

test('the demonstration tree shows the natural order', async () => {
  await plant();
  const names = (await levelsOf(database)).flat().map(({ name }) => name);
  assert.ok(names.includes('Floor 2') && names.includes('Floor 10'));
  const root = await readRoot(database);
  const top = (await readChildren(database, [root.id], {})).get(root.id)?.folders.map(({ name }) => name);
  assert.deepEqual(top, top?.toSorted());
});

test('planting a second time changes nothing', async () => {
  await plant();
  const planted = await levelsOf(database);
  await plant();
  assert.deepEqual(await levelsOf(database), planted);
});

test('a tree that has a folder already is left as it is', async () => {
  await database.transaction(async (transaction) => {
    const root = await readRoot(transaction);
    await insertFolder(transaction, { parentId: root.id, name: 'Mine' }, now);
  });
  const own = await levelsOf(database);
  await plant();
  assert.deepEqual(await levelsOf(database), own);
});

test('a planting that is rolled back leaves no folder behind', async () => {
  const failing = database.transaction(async (transaction) => {
    await plantDemoTree(transaction, now);
    throw new Error('on purpose');
  });
  await assert.rejects(failing, /on purpose/);
  assert.deepEqual(await levelsOf(database), []);
});
