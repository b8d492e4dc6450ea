/** The folder commands: their output for people and programs, and their effects on the tree. */

import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { sqlite } from '../support/databases.ts';
import { CliTestbed } from './cli-testbed.ts';
import { runOnTerminal } from './pseudo-terminal.ts';

interface FolderJson {
  readonly id: string;
  readonly path: string;
  readonly title: string;
  readonly version: number;
  readonly properties: Record<string, unknown>;
}

const escape = '\x1b]0;owned\x07';

describe('the folder commands', () => {
  let testbed: CliTestbed;
  before(async () => (testbed = await CliTestbed.start(sqlite)));
  after(() => testbed.stop());

  const readPaths = async (under: string) => testbed.tree.paths(await testbed.tree.idOf(under));
  /** Runs a command that must fail with this exit code and one error line, and change nothing. */
  const assertRefused = async (code: number, message: RegExp, ...args: string[]) => {
    const before = await testbed.tree.snapshot();
    const result = await testbed.run(['folder', ...args]);
    assert.deepEqual([result.code, result.output], [code, ''], result.errors);
    assert.match(result.errors, /^espalier: [^\n]*\n$/);
    assert.match(result.errors, message);
    assert.deepEqual(await testbed.tree.snapshot(), before);
  };

  test('ls lists folders in natural order, in long form and as JSON', async () => {
    await testbed.tree.import([
      { path: 'ls/Floor 10' },
      { path: 'ls/Floor 2', title: 'The second', properties: { n: 2 } },
      { path: 'ls/Floor 2/Room' },
    ]);
    const [plain, long, json, root] = await Promise.all([
      testbed.output('folder', 'ls', '/ls'),
      testbed.output('folder', 'ls', '-l', 'ls/'),
      testbed.json<FolderJson[]>('folder', 'ls', '/ls'),
      testbed.output('folder', 'ls'),
    ]);
    assert.equal(plain, 'Floor 2\nFloor 10\n');
    assert.match(
      long,
      /^Id .*\n[\w-]{36} {2}MANAGE {2}[\d-]+ [\d:]+ {2}Floor 2 {2}\(The second\)\n[\w-]{36}.*Floor 10\n$/,
    );
    assert.deepEqual(
      json.map(({ path, title, properties }) => ({ path, title, properties })),
      [
        { path: '/ls/Floor 2', title: 'The second', properties: { n: 2 } },
        { path: '/ls/Floor 10', title: 'Floor 10', properties: {} },
      ],
    );
    assert.match(root, /^ls$/m);
    assert.equal(await testbed.output('folder', 'ls', `id:${json[1]!.id}`), '');
  });

  test('tree draws and counts the folders down to a depth, and prints nested JSON', async () => {
    await testbed.tree.import(['tree/a/b', 'tree/a/c', 'tree/d']);
    const [drawn, ascii, one, json] = await Promise.all([
      testbed.output('folder', 'tree', '/tree'),
      testbed.run(['folder', 'tree', '/tree'], { environment: { LC_ALL: 'C' } }),
      testbed.output('folder', 'tree', '/tree', '--depth', '1'),
      testbed.json<unknown>('folder', 'tree', '/tree/a'),
    ]);
    assert.equal(drawn, '/tree\n├── a\n│   ├── b\n│   └── c\n└── d\n\n4 folders\n');
    assert.equal(ascii.output, '/tree\n|-- a\n|   |-- b\n|   `-- c\n`-- d\n\n4 folders\n');
    assert.equal(one, '/tree\n├── a\n└── d\n\n2 folders\n');
    const names = ({ name, folders }: Nested): unknown => [name, ...folders.map(names)];
    assert.deepEqual(names(json as Nested), ['a', ['b'], ['c']]);
  });
  interface Nested {
    readonly name: string;
    readonly folders: readonly Nested[];
  }

  test('mkdir creates a folder with its title and properties, and with -p also its missing ancestors, all or nothing', async () => {
    await testbed.tree.create('mkdir');
    const output = await testbed.output(
      ...['folder', 'mkdir', '/mkdir/a', '--title', 'The a', '--property', 'n=2', '--property', 'who=me'],
    );
    assert.equal(output, 'Created /mkdir/a.\n');
    const { title, properties } = await testbed.json<FolderJson>('folder', 'show', '/mkdir/a');
    assert.deepEqual({ title, properties }, { title: 'The a', properties: { n: 2, who: 'me' } });
    assert.equal(
      await testbed.output('folder', 'mkdir', '-p', '/mkdir/a', 'mkdir/b/c/d', '/mkdir/a/e'),
      '/mkdir/a already exists.\nCreated /mkdir/b/c/d (3 folders).\nCreated /mkdir/a/e.\n',
    );
    await assertRefused(
      1,
      /\/mkdir\/a already exists\. To accept an existing folder, use -p\./,
      'mkdir',
      '/mkdir/a',
    );
    await assertRefused(1, /There is no folder \/mkdir\/x, or you do not have access/, 'mkdir', '/mkdir/x/y');
    await assertRefused(1, /control character/, 'mkdir', '-p', '/mkdir/new/bad\nname');
    await assertRefused(2, /^espalier: The root cannot be created/, 'mkdir', '/mkdir/z', '/');
  });

  test('reject an empty path instead of using the root', async () => {
    await testbed.tree.create('empty');
    const commands = [['ls'], ['export'], ['mkdir'], ['mkdir', '-p'], ['rm', '-r'], ['mv', '/empty']];
    for (const args of commands)
      await assertRefused(2, /^espalier: The path is empty\. For the root, use \/\.\n$/, ...args, '');
    for (const args of [
      ['grant', 'list', ''],
      ['folder', 'import', '-', '', '--format', 'csv'],
    ]) {
      const { code, errors } = await testbed.run(args);
      assert.deepEqual([code, errors], [2, 'espalier: The path is empty. For the root, use /.\n']);
    }
  });

  test('mv moves a folder into an existing folder, renames it, or does both', async () => {
    await testbed.tree.import(['mv/from/x/inside', 'mv/to']);
    const moves: [args: string[], printed: string][] = [
      [['/mv/from/x', '/mv/to'], 'Moved /mv/from/x to /mv/to/x.\n'],
      [['/mv/to/x', '/mv/to/y'], 'Moved /mv/to/x to /mv/to/y.\n'],
      [
        ['-n', '/mv/to/y', '/mv/from/z'],
        'Would move /mv/to/y (2 folders) to /mv/from/z. The access of users would not change.\n',
      ],
      [['/mv/to/y', '/mv/from/z'], 'Moved /mv/to/y to /mv/from/z.\n'],
      [['/mv/from/z', '/mv/from/'], '/mv/from/z is already there.\n'],
    ];
    for (const [args, printed] of moves) assert.equal(await testbed.output('folder', 'mv', ...args), printed);
    assert.deepEqual(await readPaths('/mv'), ['from', 'from/z', 'from/z/inside', 'to']);
    assert.equal(await testbed.output('folder', 'move', '/mv/to', '/mv/new'), 'Moved /mv/to to /mv/new.\n');
    await assertRefused(1, /There is no folder \/mv\/none/, 'mv', '/mv/from/z', '/mv/none/');
    await assertRefused(1, /inside/, 'mv', '/mv/from', '/mv/from/z');
    await assertRefused(1, /root cannot be moved/, 'mv', '/', '/mv/new');
  });

  test('mv moves and renames a folder in one change, as its dry run shows', async () => {
    await testbed.tree.import(['both/a/x', 'both/a/y', 'both/b', 'both/c/x', 'both/d/y', 'both/e/y']);
    await testbed.output('folder', 'mv', '/both/a/x', '/both/b/y');
    assert.deepEqual((await readPaths('/both')).slice(0, 4), ['a', 'a/y', 'b', 'b/y']);
    // Two separate changes would fail: in between, the name would be taken in the old or in the new parent.
    await testbed.tree.create('x', await testbed.tree.idOf('/both/a'));
    await testbed.tree.create('z', await testbed.tree.idOf('/both/a'));
    await testbed.output('folder', 'mv', '/both/a/x', '/both/c/z');
    assert.match(
      await testbed.output('folder', 'mv', '-n', '/both/d/y', '/both/e/z'),
      /^Would move \/both\/d\/y to \/both\/e\/z\./,
    );
    await testbed.output('folder', 'mv', '/both/d/y', '/both/e/z');
    assert.deepEqual(await readPaths('/both/e'), ['y', 'z']);
    await testbed.tree.create('inner', await testbed.tree.idOf('/both/e/z'));
    const before = await readPaths('/both');
    for (const flags of [['-n'], []]) {
      await assertRefused(1, /inside/, 'mv', ...flags, '/both/e/z', '/both/e/z/inner/new');
      await assertRefused(1, /name "y" is/, 'mv', ...flags, '/both/b/y', '/both/e/');
    }
    assert.deepEqual(await readPaths('/both'), before);
  });

  test('rm prints the count and the command to restore the folder, trash lists it, and restore restores it', async () => {
    await testbed.tree.import(['rm/a/b/c', 'rm/d']);
    await assertRefused(1, /To delete them as well, use -r/, 'rm', '/rm/a');
    await assertRefused(1, /no folder \/rm\/none/, 'rm', '-r', '/rm/a', '/rm/none');
    const deleteOutput = await testbed.output('folder', 'rm', '-r', '/rm/a', '/rm/d');
    const [, id] =
      /^Deleted \/rm\/a \(3 folders\)\. To restore it, run 'espalier folder restore (\S+)'\.\n/.exec(
        deleteOutput,
      ) ?? [];
    assert.ok(id, deleteOutput);
    assert.deepEqual(await readPaths('/rm'), []);
    const trash = await testbed.output('folder', 'trash');
    assert.match(trash, new RegExp(`^Id .*\\n(.*\\n)*${id} .* /rm/a\\n`));
    const [listed] = (await testbed.json<{ folderId: string; name: string }[]>('folder', 'trash')).filter(
      (folder) => folder.folderId === id,
    );
    assert.equal(listed?.name, 'a');
    assert.equal(
      await testbed.output('folder', 'restore', `id:${id}`, '--name', 'new'),
      'Restored /rm/new.\n',
    );
    assert.deepEqual(await readPaths('/rm'), ['new', 'new/b', 'new/b/c']);
  });

  test('duplicate copies a folder with its contents; purge and trash --empty need a confirmation', async () => {
    await testbed.tree.import(['dup/a/b', 'dup/other']);
    assert.equal(await testbed.output('folder', 'duplicate', '/dup/a'), 'Copied /dup/a to /dup/a (copy).\n');
    const copy = await testbed.json<{ path: string }>(
      'folder',
      'duplicate',
      '/dup/a',
      '--to',
      '/dup/other',
      '--name',
      'c',
    );
    assert.equal(copy.path, '/dup/other/c');
    const expectedPaths = ['a', 'a/b', 'a (copy)', 'a (copy)/b', 'other', 'other/c', 'other/c/b'];
    assert.deepEqual(await readPaths('/dup'), expectedPaths);
    const [deleted] = await testbed.json<{ id: string }[]>('folder', 'delete', '-r', '/dup/other/c');
    await assertRefused(2, /To confirm, use --yes/, 'purge', deleted!.id);
    assert.equal(
      await testbed.output('folder', 'purge', deleted!.id, '--yes'),
      `Purged the folder ${deleted!.id}.\n`,
    );
    await assertRefused(
      1,
      / is not the id of a folder in the trash\. To list the ids, run/,
      'restore',
      deleted!.id,
    );
    await assertRefused(1, / is not the id of a folder in the trash\./, 'purge', '--yes', '/dup');
    await testbed.output('folder', 'delete', '-r', '/dup');
    await assertRefused(2, /To confirm, use --yes/, 'trash', '--empty');
    const { folderCount } = await testbed.json<{ folderCount: number }>(
      'folder',
      'trash',
      '--empty',
      '--yes',
    );
    assert.ok(folderCount > 0);
    assert.equal(await testbed.output('folder', 'trash'), '');
  });

  test('report an empty list on a terminal, and print nothing for a script', async () => {
    await testbed.tree.create('hollow');
    const entries = ['journal', '--from', '2030-01-01'];
    for (const [args, text] of [
      [['folder', 'list', '/hollow'], 'No folders found.'],
      [['folder', 'list', '-l', '/hollow'], 'No folders found.'],
      [['folder', 'search', 'nothing at all'], 'No folders found.'],
      [entries, 'No entries found.'],
    ] as const) {
      assert.equal(await testbed.output(...args), '');
      const terminalOutput = await runOnTerminal(args, testbed.environment);
      assert.equal(terminalOutput.text.trim(), text, args.join(' '));
    }
    assert.match(await testbed.output(...entries, '--csv'), /^number,.*\n$/);
  });

  test('suggest the prefix `id:` for an id without this prefix', async () => {
    const id = await testbed.tree.create('by id');
    for (const args of [
      ['folder', 'show', id],
      ['grant', 'create', id, 'read', '--user', 'admin'],
    ]) {
      const { code, errors } = await testbed.run(args);
      assert.equal(code, 1);
      assert.ok(errors.endsWith(` To name a folder by its id, use id:${id}.\n`), errors);
    }
  });

  test('set changes only the given fields and properties', async () => {
    const id = await testbed.tree.create('set', undefined, { title: 'old', properties: { a: 1, b: 2 } });
    const set = (...args: string[]) => testbed.output('folder', 'set', '/set', ...args);
    assert.equal(
      await set('--no-title', '--icon', '🌳', '--property', 'c=[3]', '--unset-property', 'a'),
      'Changed /set; its version is 2.\n',
    );
    const { folder } = await testbed.tree.query<{ folder: object }>(
      'query($id: ID){folder(id: $id){title icon properties}}',
      { id },
    );
    assert.deepEqual(folder, { title: 'set', icon: '🌳', properties: { b: 2, c: [3] } });
    assert.equal(await set('--icon', '🌳'), '/set is unchanged.\n');
    await assertRefused(1, /version/, 'set', '/set', '--title', 'x', '--expect-version', '1');
    await assertRefused(
      2,
      /'--no-title' cannot be used with option '--title/,
      'set',
      '/set',
      '--title',
      'x',
      '--no-title',
    );
    await assertRefused(2, /There is nothing to change/, 'set', '/set');
  });

  test('search finds folders inside a folder and up to a limit', async () => {
    await testbed.tree.import([{ path: 'search/Needle 1' }, { path: 'search/in/Needle 2', title: 'Point' }]);
    const [all, under, one] = await Promise.all([
      testbed.output('folder', 'search', 'needle'),
      testbed.output('folder', 'search', 'needle', '--under', '/search/in'),
      testbed.json<FolderJson[]>('folder', 'search', 'needle', '1', '--limit', '1'),
    ]);
    assert.equal(all, '/search/Needle 1\n/search/in/Needle 2  (Point)\n');
    assert.equal(under, '/search/in/Needle 2  (Point)\n');
    assert.deepEqual(
      one.map(({ path }) => path),
      ['/search/Needle 1'],
    );
  });

  test('show prints all fields, grants and the path', async () => {
    await testbed.tree.import([{ path: 'show/inner', title: 'Inner', properties: { a: { b: 1 } } }]);
    const id = await testbed.tree.idOf('/show');
    const person = await testbed.tree.person({ [id]: 'WRITE' });
    const text = await testbed.output('folder', 'show', '/show/inner');
    for (const line of [
      'Path         /show/inner',
      'Title        Inner',
      'Properties   a = {"b":1}',
      'Access       MANAGE',
      `Grants       WRITE  to ${person.username} on /show`,
    ]) {
      assert.ok(text.split('\n').includes(line), `${line}\nis not in\n${text}`);
    }
  });

  test('escape control characters in texts of other users', async () => {
    // An old server may have stored such texts before they were refused. A hostile server may send them.
    const title = 'A \u202etitle';
    await testbed.tree.mutate('createFolder', { name: 'hostile', title, description: 'x\ny' });
    for (const args of [
      ['show', '/hostile'],
      ['ls', '-l'],
      ['tree'],
      ['search', 'hostile'],
      ['ls', '--json'],
    ]) {
      const output = await testbed.output('folder', ...args);
      assert.ok(!output.includes('\u202e'), args[0]);
      assert.match(output, /202e/, args[0]);
    }
    await assertRefused(1, /There is no folder \/\\u\{1b\}]0;owned\\u\{7\}/, 'ls', `/${escape}`);
  });

  test('tree exits without an error message if the reader of its pipe exits, like other programs', async () => {
    await testbed.tree.import(
      Array.from({ length: 4_000 }, (_, number) => `pipe/A rather long name ${number}`),
    );
    const command = testbed.start('folder', 'tree', '/pipe');
    await command.waitForOutput(/\n/);
    command.closeOutput();
    const { code, errors } = await command.waitUntilEnded();
    assert.deepEqual([code, errors], [141, '']);
  });
});
