import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { checkEntries } from './validate-entries.ts';
import { entriesOfCsv, entriesOfJson, entriesOfNdjson, EntryError, writers } from './entry-formats.ts';

const fails = (work: () => unknown, message: RegExp) =>
  assert.throws(work, (error) => error instanceof EntryError && message.test(error.message));

test('JSON is nested or flat, a list or one folder', () => {
  assert.deepEqual(entriesOfJson('[{"path": "a/b", "title": "B"}, {"path": "c", "icon": null}]'), [
    { path: 'a/b', title: 'B' },
    { path: 'c' },
  ]);
  const nested =
    '{"name": "a", "folders": [{"name": "b", "folders": []}, {"name": "c", "properties": {"n": 1}}]}';
  assert.deepEqual(entriesOfJson(nested), [
    { path: 'a' },
    { path: 'a/b' },
    { path: 'a/c', properties: { n: 1 } },
  ]);
});

test('however deep it is nested', () => {
  const depth = 5_000;
  const text = '{"name":"a","folders":['.repeat(depth) + ']}'.repeat(depth);
  assert.equal(entriesOfJson(text).length, depth);
});

test('ignores further fields in the output of commands, and rejects unknown fields', () => {
  assert.deepEqual(entriesOfJson('[{"id": "1", "name": "a", "version": 3, "accessLevel": "READ"}]'), [
    { path: 'a' },
  ]);
  fails(() => entriesOfJson('[{"name": "a", "titel": "x"}]'), /^Entry 1: there is no field "titel"/);
  fails(() => entriesOfJson('[{"name": "a", "title": 1}]'), /^Entry 1: `title` is not a string/);
  fails(() => entriesOfJson('[{"name": "a", "folders": {}}]'), /`folders` is not a list/);
  fails(() => entriesOfNdjson('\n{"name": "a"}'), /^Line 2 has no `path`/);
});

test('CSV has its columns in any order, and properties by name or as JSON', () => {
  const text =
    'title,path,properties.floor,properties.name,properties\r\nA,a,2,two,"{""x"": [1]}"\r\n,b,,,\r\n';
  assert.deepEqual(entriesOfCsv(text), [
    { path: 'a', title: 'A', properties: { x: [1], floor: 2, name: 'two' } },
    { path: 'b' },
  ]);
  fails(() => entriesOfCsv('path,path\n'), /appears twice/);
  fails(() => entriesOfCsv('path\na,b\n'), /^Line 2 has more cells/);
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

for (const [format, read] of [
  ['json', entriesOfJson],
  ['ndjson', entriesOfNdjson],
  ['csv', entriesOfCsv],
] as const) {
  test(`whatever is written as ${format} is read as it was`, () => {
    fc.assert(
      fc.property(fc.array(entry), (entries) => {
        const input = JSON.parse(JSON.stringify(entries)) as typeof entries;
        const expected = input.map((each) =>
          Object.fromEntries(Object.entries(each).filter(([, value]) => value !== null)),
        );
        const back = read([...writers[format](input)].join(''));
        assert.deepEqual(JSON.parse(JSON.stringify(back)), expected);
      }),
    );
  });
}

test('counts new folders with their missing parents, and lists invalid entries', () => {
  assert.equal(checkEntries([{ path: 'a/b/c' }, { path: '/a/b/' }, { path: 'a/d' }]), 4);
  assert.throws(() => checkEntries([{ path: 'e\u0301' }, { path: 'é' }]), /é: It appears twice\.$/);
  assert.throws(
    () => checkEntries([{ path: 'a//b' }, { path: 'c', title: 'x'.repeat(256) }]),
    /^StartError: Nothing was imported, because 2 folders are invalid:\n {2}a\/\/b: .* empty\.\n {2}c: .* 255 characters\.$/,
  );
});
