/** `espalier folder import` and `export`: an export can be imported unchanged, and a refused import changes nothing. */

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { sqlite } from '../support/databases.ts';
import type { ListedFolder } from '../tree/tree-testbed.ts';
import { CliTestbed } from './cli-testbed.ts';

const sample: ListedFolder[] = [
  {
    path: 'a',
    title: 'With "quotes", commas\u2028and more',
    properties: { deep: { list: [1, null, 'x'] }, n: 1.5 },
  },
  { path: 'a/ spaces ', title: ' and here ' },
  { path: 'a/ spaces /=1+1', title: '=HYPERLINK("x")' },
  { path: 'b,"c"', properties: { __proto__: 1, constructor: 'x' } },
  { path: 'Größe 🌳', title: '日本語' },
];

describe('import and export', () => {
  let testbed: CliTestbed;
  before(async () => {
    testbed = await CliTestbed.start(sqlite);
    await testbed.tree.import(sample.map((each) => ({ ...each, path: `sample/${each.path}` })));
    await testbed.tree.mutate('updateFolder', {
      id: await testbed.tree.idOf('/sample/a'),
      description: 'Two lines,\r\nand "quotes"\n\ttoo',
      icon: '🌳',
    });
  });
  after(() => testbed.stop());

  const readExport = async (path: string) => {
    const query = 'query($id: ID){exportFolders(id: $id){path title icon description properties}}';
    return (
      await testbed.tree.query<{ exportFolders: unknown[] }>(query, { id: await testbed.tree.idOf(path) })
    ).exportFolders;
  };
  const writeFile = (name: string, text: string) => {
    writeFileSync(join(testbed.folder, name), text);
    return join(testbed.folder, name);
  };
  /** Expects a refusal that leaves the tree unchanged. */
  const assertRefused = async (code: number, message: RegExp, args: string[], input = '') => {
    const before = await testbed.tree.snapshot();
    const result = await testbed.run(['folder', 'import', ...args], { input });
    assert.deepEqual([result.code, result.output], [code, ''], result.errors);
    assert.match(result.errors, message);
    assert.deepEqual(await testbed.tree.snapshot(), before);
  };

  for (const format of ['json', 'ndjson', 'csv']) {
    test(`import an unchanged export as ${format}, from a file and from a pipe`, async () => {
      const path = join(testbed.folder, `sample.${format}`);
      const [text, message] = await Promise.all([
        testbed.output('folder', 'export', '/sample', '--format', format),
        testbed.output('folder', 'export', '/sample', '--format', format, '--output', path),
      ]);
      assert.equal(message, `Exported 5 folders from /sample to ${path}.\n`);
      assert.equal(readFileSync(path, 'utf8'), text);
      const [byFile, byPipe] = await Promise.all([
        testbed.output('folder', 'import', path, `/${format}`, '--parents'),
        testbed.run(['folder', 'import', '-', `/${format} 2`, '-p', '--format', format], { input: text }),
      ]);
      assert.match(byFile, new RegExp(`^Imported 6 folders in [\\d.]+ s, including /${format}\\.\\n$`));
      assert.deepEqual([byPipe.code, byPipe.errors], [0, '']);
      const original = await readExport('/sample');
      assert.deepEqual(await readExport(`/${format}`), original);
      assert.deepEqual(await readExport(`/${format} 2`), original);
    });
  }

  test('export in the format of the extension, or of --format', async () => {
    const path = join(testbed.folder, 'extension.csv');
    await testbed.output('folder', 'export', '/sample', '-o', path);
    assert.match(readFileSync(path, 'utf8'), /^path,title,/);
    const other = join(testbed.folder, 'extension.txt');
    const { code, output, errors } = await testbed.run(['folder', 'export', '/sample', '-o', other]);
    assert.deepEqual([code, output], [2, '']);
    assert.equal(
      errors,
      `espalier: Cannot determine the format of ${other}. Use --format with one of csv, json, ndjson.\n`,
    );
    await testbed.output('folder', 'export', '/sample', '-o', other, '--format', 'ndjson');
    assert.match(readFileSync(other, 'utf8'), /^\{"path":"a"/);
  });

  test('replace a file only with --force, and create it with the default mode', async () => {
    const path = writeFile('there.json', 'precious');
    const { code, errors } = await testbed.run(['folder', 'export', '/sample', '-o', path]);
    assert.deepEqual([code, errors], [1, `espalier: ${path} already exists. To replace it, use --force.\n`]);
    assert.equal(readFileSync(path, 'utf8'), 'precious');
    await testbed.output('folder', 'export', '/sample', '-f', '-o', path);
    assert.match(readFileSync(path, 'utf8'), /^\[\n\{"path":"a"/);
    assert.equal(statSync(path).mode & 0o777, 0o666 & ~process.umask());
    const fullDiskFile = join(testbed.folder, 'full.json');
    const ended = await testbed.run(['folder', 'export', '/sample', '-o', fullDiskFile], { maxFileBytes: 0 });
    assert.equal(ended.code, 1);
    assert.match(ended.errors, /^espalier: Cannot write .*full.json: .*\n$/);
    assert.deepEqual(
      readdirSync(testbed.folder).filter((name) => name.startsWith('full')),
      [],
    );
  });

  test('import a directory, with files and hidden directories only if requested', async () => {
    const top = join(testbed.folder, 'directory');
    mkdirSync(join(top, 'a/b'), { recursive: true });
    mkdirSync(join(top, '.hidden/c'), { recursive: true });
    writeFileSync(join(top, 'a/file.txt'), '');
    symlinkSync('..', join(top, 'a/link'));
    const cases: [flags: string[], paths: string[]][] = [
      [[], ['a', 'a/b']],
      [['--files'], ['a', 'a/b', 'a/file.txt']],
      [['--all'], ['.hidden', '.hidden/c', 'a', 'a/b']],
    ];
    await Promise.all(
      cases.map(async ([flags, paths], index) => {
        const message = await testbed.output('folder', 'import', top, `/directory ${index}`, '-p', ...flags);
        assert.match(
          message,
          new RegExp(`^Imported ${paths.length + 1} folders .* Skipped: 1 symbolic link\\.\\n$`),
        );
        assert.deepEqual(await testbed.tree.paths(await testbed.tree.idOf(`/directory ${index}`)), paths);
      }),
    );
    await assertRefused(1, /"a" is already in use.* Nothing was imported\. To import into existing/, [
      top,
      '/directory 0',
    ]);
    await assertRefused(1, /"a" is already in use/, ['--dry-run', top, '/directory 0']);
    assert.match(
      await testbed.output('folder', 'import', '-n', top, '/not there/yet', '-p'),
      /^Would import 4 folders, including \/not there\/yet\./,
    );
  });

  test('list up to ten invalid folders before sending a request', async () => {
    const list = Array.from({ length: 12 }, (_, number) => ({ path: `bad\n${number}` }));
    await assertRefused(
      1,
      /^espalier: Nothing was imported, because 12 folders are invalid:\n( {2}Entry \d+: bad\\u\{a\}\d: A folder name .*\n){10} {2}and 2 more\n$/,
      [writeFile('bad.json', JSON.stringify([...list, { path: 'good' }])), '/'],
    );
    await assertRefused(
      1,
      / {2}Line 2: \/a\/: It appears twice\.\n$/,
      ['-', '--format', 'ndjson'],
      '{"path":"a"}\n{"path":"/a/"}\n',
    );
    await assertRefused(
      1,
      /2 folders are invalid:\n {2}Entry 1: There is no field "titel".*\n {2}In "b": The folder has no `name`\.\n$/,
      [writeFile('y.json', '[{"name":"a","titel":"b"},{"name":"b","folders":[{}]}]')],
    );
    await assertRefused(1, / {2}Line 2: The line is not valid JSON: /, [
      writeFile('z.ndjson', '{"path":"a"}\n{\n{"path":"b"}\n'),
    ]);
  });

  test('merge with existing folders only with --merge, which a dry run previews', async () => {
    const csv = 'path,title\nm,New title\nm/old,\nm/new,\n';
    await testbed.output('folder', 'create', '-p', '/merged/m/old', '--title', 'Old');
    const args = ['folder', 'import', writeFile('merge.csv', csv), '/merged'];
    const refusal = await testbed.run(args);
    assert.equal(refusal.code, 1);
    assert.match(refusal.errors, /Nothing was imported\. To import into existing folders, use --merge/);
    const counts = async (...more: string[]) => {
      type Result = { folderCount: number; updatedCount: number; keptCount: number; isDryRun: boolean };
      const result = await testbed.json<Result>(...args, ...more);
      return [result.folderCount, result.updatedCount, result.keptCount, result.isDryRun];
    };
    assert.deepEqual(await counts('--merge', 'update', '-n'), [1, 1, 1, true]);
    assert.equal(await testbed.output('folder', 'list', '/merged/m'), 'old\n');
    assert.deepEqual(await counts('--merge', 'keep'), [1, 0, 2, false]);
    assert.equal(await testbed.output('folder', 'list', '/merged/m'), 'new\nold\n');
    assert.match(await testbed.output('folder', 'show', '/merged/m/old'), /Title +Old/);
    assert.match(
      await testbed.output(...args, '--merge', 'update'),
      /^Imported 0 folders into \/merged \(1 updated, 2 unchanged\) in /,
    );
    assert.match(await testbed.output('folder', 'show', '/merged/m'), /Title +New title/);
  });

  test('escape formulas in CSV', async () => {
    const text = await testbed.output('folder', 'export', '/sample/a/ spaces ', '--format', 'csv');
    assert.equal(text, `path,title,icon,description,properties\r\n'=1+1,"'=HYPERLINK(""x"")",,,\r\n`);
  });

  const sources: [what: string, message: RegExp, args: (() => string)[], input?: string][] = [
    ['a missing source', /Cannot read none: the file does not exist\./, [() => 'none']],
    [
      'a file of an unknown format',
      /Use --format with one of csv, json, ndjson/,
      [() => writeFile('x.txt', 'a')],
    ],
    ['invalid JSON', /x\.json: The content is not valid JSON/, [() => writeFile('x.json', '[{"path":')]],
    ['CSV without a path', /including the column path/, [() => writeFile('x.csv', 'name\na\n')]],
    ['CSV with a stray quote', /Line 2: a quote/, [() => writeFile('y.csv', 'path\na"b\n')]],
    ['a file that is not UTF-8', /latin\.csv: Line 2 is not valid UTF-8/, [() => latin1(testbed.folder)]],
    [
      'a missing folder',
      /no folder \/none, or you do not have access to it\. To create it, use --parents/,
      [() => writeFile('a.json', '[]'), () => '/none'],
    ],
  ];
  test('report a bad source in one line and import nothing', async () => {
    const before = await testbed.tree.snapshot();
    await Promise.all(
      sources.map(async ([what, message, args]) => {
        const { code, output, errors } = await testbed.run(['folder', 'import', ...args.map((arg) => arg())]);
        assert.ok(code === 1 || code === 2, what);
        assert.equal(output, '', what);
        assert.match(errors, /^espalier: [^\n]*\n$/, what);
        assert.match(errors, message, what);
      }),
    );
    assert.deepEqual(await testbed.tree.snapshot(), before);
  });

  test('import the JSON output of other commands', async () => {
    const treeOutput = await testbed.output('folder', 'tree', '/sample', '--json');
    const listOutput = await testbed.output('folder', 'ls', '/sample', '--json');
    for (const [to, input] of [
      ['/nested', treeOutput],
      ['/listed', listOutput],
    ] as const) {
      const { code, errors } = await testbed.run(['folder', 'import', '-', to, '-p', '--format', 'json'], {
        input,
      });
      assert.deepEqual([code, errors], [0, '']);
    }
    assert.deepEqual(
      await testbed.tree.paths(await testbed.tree.idOf('/nested/sample')),
      await testbed.tree.paths(await testbed.tree.idOf('/sample')),
    );
    assert.match(await testbed.output('folder', 'ls', '/listed/sample'), /^a$/m);
  });
});

function latin1(folder: string): string {
  const path = join(folder, 'latin.csv');
  writeFileSync(path, Buffer.from('path\nGr\xfcn\n', 'latin1'));
  return path;
}
