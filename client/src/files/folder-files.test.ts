import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkFolders } from './check-folders.ts';
import { FileError } from './file-error.ts';
import { fileFormatOf, fileFormats, formatFolders, parseFolders, type FileFormat } from './folder-files.ts';

const read = (format: FileFormat, text: string) => {
  const { folders, problems } = parseFolders(format, text);
  assert.deepEqual(problems, []);
  return folders;
};
const assertFails = (format: FileFormat, text: string, message: RegExp) =>
  assert.throws(
    () => parseFolders(format, text),
    (error) => error instanceof FileError && message.test(error.message),
  );
const problemsOf = (format: FileFormat, text: string) =>
  parseFolders(format, text).problems.map(({ where, path, message }) => `${where}|${path}|${message}`);

test('finds the format by the extension', () => {
  assert.deepEqual(['a.CSV', '/b.c/d.json', 'e.jsonl', 'f.ndjson', 'csv', 'g.txt'].map(fileFormatOf), [
    'csv',
    'json',
    'ndjson',
    'ndjson',
    undefined,
    undefined,
  ]);
});

test('reads JSON that is nested or flat, a list or one folder', () => {
  assert.deepEqual(read('json', '[{"path": "a/b", "title": "B"}, {"path": "c", "icon": null}]'), [
    { path: 'a/b', title: 'B' },
    { path: 'c' },
  ]);
  const nested =
    '{"name": "a", "folders": [{"name": "b", "folders": []}, {"name": "c", "properties": {"n": 1}}]}';
  assert.deepEqual(read('json', nested), [
    { path: 'a' },
    { path: 'a/b' },
    { path: 'a/c', properties: { n: 1 } },
  ]);
});

test('reads deeply nested JSON', () => {
  const depth = 5_000;
  const text = '{"name":"a","folders":['.repeat(depth) + ']}'.repeat(depth);
  assert.equal(read('json', text).length, depth);
});

test('ignores other fields in the output of CLI commands, and reports rows with unknown fields', () => {
  assert.deepEqual(read('json', '[{"id": "1", "name": "a", "version": 3, "accessLevel": "READ"}]'), [
    { path: 'a' },
  ]);
  const rows = '[{"name":"a","titel":"x"},{"name":"b"},{"name":"c","title":1},{"name":"d","folders":{}},3]';
  assert.deepEqual(problemsOf('json', rows), [
    'Entry 1||There is no field "titel". The fields of a folder are name, title, icon, description, properties.',
    'Entry 3||`title` must be a string.',
    'Entry 4||`folders` must be a list.',
    'Entry 5||A folder must be a JSON object.',
  ]);
  assert.deepEqual(problemsOf('json', '{"name":"a","folders":[{"name":"b/c"},{}]}'), [
    'In "a"||The `name` of a folder must not contain a slash.',
    'In "a"||The folder has no `name`.',
  ]);
  assert.match(problemsOf('ndjson', '\n{"name": "a"}\n{')[0]!, /^Line 2\|\|The folder has no `path`/);
  assert.match(problemsOf('ndjson', '\n{"name": "a"}\n{')[1]!, /^Line 3\|\|The line is not valid JSON/);
});

test('reads CSV with its columns in any order, and properties by name or as JSON', () => {
  const text =
    'title,path,properties.floor,properties.name,properties\r\nA,a,2,two,"{""x"": [1]}"\r\n,b,,,\r\n';
  assert.deepEqual(read('csv', text), [
    { path: 'a', title: 'A', properties: { x: [1], floor: 2, name: 'two' } },
    { path: 'b' },
  ]);
  assertFails('csv', 'path,path\n', /appears twice/);
  assertFails('csv', 'path;title\n', /separated by commas/);
  assert.deepEqual(problemsOf('csv', 'path\na,b\n"c\n"\nd\n'), [
    'Line 2||The line has more cells than the first line.',
    'Line 3|c\\u{a}|A folder name must not contain a slash or a control character.',
  ]);
});

test('writes no cell that a spreadsheet would run as a formula', () => {
  const text = [...formatFolders('csv', [{ path: '=a', title: '@b', description: '-c' }])].join('');
  assert.equal(text, "path,title,icon,description,properties\r\n'=a,'@b,,'-c,\r\n");
});

const name = fc
  .string({ unit: 'binary', minLength: 1, maxLength: 8 })
  .filter((text) => !/[/\p{Cc}]/u.test(text));
const text = fc.option(fc.string({ unit: 'binary', minLength: 1 }), { nil: null });
const entry = fc.record({
  path: fc.array(name, { minLength: 1, maxLength: 4 }).map((names) => names.join('/')),
  title: text,
  icon: text,
  description: text,
  properties: fc.option(
    fc.dictionary(fc.string(), fc.jsonValue(), { minKeys: 1 }) as fc.Arbitrary<Record<string, unknown>>,
    { nil: null },
  ),
});

for (const format of fileFormats) {
  test(`reads the folders that it has written as ${format}`, () => {
    fc.assert(
      fc.property(fc.uniqueArray(entry, { selector: ({ path }) => path.normalize('NFC') }), (folders) => {
        const input = JSON.parse(JSON.stringify(folders)) as typeof folders;
        const expected = input.map((each) =>
          Object.fromEntries(Object.entries(each).filter(([, value]) => value !== null)),
        );
        const back = parseFolders(format, [...formatFolders(format, input)].join('')).folders;
        assert.deepEqual(JSON.parse(JSON.stringify(back)), expected);
      }),
    );
  });
}

test('counts new folders with their missing parents, and lists invalid folders', () => {
  const check = (...paths: string[]) =>
    checkFolders(paths.map((path, index) => ({ where: `Line ${index + 1}`, folder: { path } })));
  assert.equal(check('a/b/c', '/a/b/', 'a/d').folderCount, 4);
  assert.deepEqual(check('e\u0301', 'é').problems, [
    { where: 'Line 2', path: 'é', message: 'It appears twice.' },
  ]);
  assert.deepEqual(
    checkFolders([{ where: 'Line 1', folder: { path: 'c', title: 'x'.repeat(256) } }]).problems,
    [{ where: 'Line 1', path: 'c', message: 'The title of a folder has at most 255 characters.' }],
  );
  const { problems, problemCount } = check(...Array.from({ length: 150 }, () => 'a//b'));
  assert.deepEqual([problems.length, problemCount], [100, 150]);
  assert.equal(problems[0]!.message, 'A folder name must not be empty.');
});
