import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drawTree, nestTree, type Branch } from './tree.ts';

const folder = (name: string, title = name) => ({ id: `id of ${name}`, name, title, accessLevel: 'READ' });

async function* branches(...input: [name: string, depth: number, isLast: boolean, title?: string][]) {
  await Promise.resolve();
  for (const [name, depth, isLast, title] of input) {
    yield { folder: folder(name, title), depth, isLast } satisfies Branch;
  }
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const sample = () =>
  branches(
    ['a', 1, false],
    ['b', 2, false],
    ['c', 3, true, 'The \x1b[31mc'],
    ['d', 2, true],
    ['e', 3, true],
    ['f', 1, true],
    ['g', 2, true],
  );

test('draws a tree whose vertical lines end at the last subfolder', async () => {
  assert.deepEqual(await all(drawTree(sample(), { isAscii: false })), [
    '├── a',
    '│   ├── b',
    '│   │   └── c  (The \\u{1b}[31mc)',
    '│   └── d',
    '│       └── e',
    '└── f',
    '    └── g',
  ]);
});

test('draws ASCII lines on a terminal without UTF-8', async () => {
  const [first, , , fourth] = await all(drawTree(sample(), { isAscii: true }));
  assert.deepEqual([first, fourth], ['|-- a', '|   `-- d']);
});

test('writes each folder inside its parent as JSON', async () => {
  const text = (await all(nestTree(folder('top'), sample()))).join('');
  type Nested = { name: string; folders: Nested[] };
  const names = ({ name, folders }: Nested): unknown =>
    folders.length > 0 ? { [name]: folders.map(names) } : name;
  assert.deepEqual(names(JSON.parse(text) as Nested), {
    top: [{ a: [{ b: ['c'] }, { d: ['e'] }] }, { f: ['g'] }],
  });
});

test('writes a folder without subfolders as JSON', async () => {
  const text = (await all(nestTree(folder('top'), branches()))).join('');
  assert.deepEqual(JSON.parse(text), { ...folder('top'), folders: [] });
});
