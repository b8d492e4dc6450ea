import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judge, newRow, rowsOf, textOf, withType, type PropertyRow } from './property-rows.ts';

const properties = { city: 'Delft', opened: 1987, listed: true, closed: null, tags: ['a'], at: { x: 1 } };

test('rows keep the type of every value', () => {
  const rows = rowsOf(properties);
  assert.deepEqual(
    rows.map(({ type, value }) => [type, value]),
    [
      ['text', 'Delft'],
      ['number', '1987'],
      ['boolean', 'true'],
      ['null', ''],
      ['json', '["a"]'],
      ['json', '{"x":1}'],
    ],
  );
  assert.deepEqual(judge({ kind: 'rows', rows }).properties, properties);
  assert.deepEqual(judge({ kind: 'json', text: textOf(properties) }).properties, properties);
});

test('a text that looks like a number stays a text', () => {
  const rows = rowsOf({ code: '0123', __proto__: null });
  assert.deepEqual(judge({ kind: 'rows', rows }).properties, { code: '0123' });
});

const row = (given: Partial<PropertyRow>): PropertyRow => ({ ...newRow([]), name: 'a', ...given });

for (const [value, isNumber] of [
  ['12', true],
  [' -1.5e3 ', true],
  ['', false],
  ['012', false],
  ['1e999', false],
  ['twelve', false],
] as const) {
  test(`${JSON.stringify(value)} is ${isNumber ? 'a' : 'no'} number`, () => {
    const { properties: judged, rows } = judge({ kind: 'rows', rows: [row({ type: 'number', value })] });
    assert.equal(judged !== null, isNumber);
    assert.equal(rows.get(0)?.value, isNumber ? undefined : 'Not a number.');
  });
}

test('a name that is missing or there twice is told at its row', () => {
  const rows = [row({ key: 0 }), row({ key: 1 }), row({ key: 2, name: '' })];
  const judged = judge({ kind: 'rows', rows });
  assert.equal(judged.properties, null);
  assert.deepEqual(
    [...judged.rows],
    [
      [1, { name: 'This name is there twice.' }],
      [2, { name: 'Give it a name.' }],
    ],
  );
});

test('what is not JSON is told, in a row and in the text', () => {
  const judged = judge({ kind: 'rows', rows: [row({ type: 'json', value: '{' })] });
  assert.equal(judged.rows.get(0)?.value, 'Not JSON.');
  assert.match(judge({ kind: 'json', text: '{"a": }' }).problem!, /^Not JSON: /);
  assert.match(judge({ kind: 'json', text: '[1]' }).problem!, /must be an object/);
});

test('a name that is there twice in the text is told, at any depth, and a value is no name', () => {
  const problem = (text: string) => judge({ kind: 'json', text }).problem;
  assert.equal(problem('{"a": 1, "\\u0061": 2}'), 'The name "a" is there twice.');
  assert.equal(problem('{"a": [{"b": 1}, {"b": {"c": "b", "c": 0}}]}'), 'The name "c" is there twice.');
  assert.equal(problem('{"a": "a", "b": ["a", "a"], "c": {"a": ":"}}'), undefined);
});

test('more than 16 KiB are refused, and exactly as many are not', () => {
  const ofBytes = (bytes: number) => [row({ value: 'x'.repeat(bytes - '{"a":""}'.length) })];
  assert.equal(judge({ kind: 'rows', rows: ofBytes(16_384) }).problem, undefined);
  assert.match(judge({ kind: 'rows', rows: ofBytes(16_385) }).problem!, /at most 16 KiB/);
});

test('another type keeps of the value what it can hold', () => {
  assert.equal(withType(row({ value: 'a"b' }), 'json').value, '"a\\"b"');
  assert.equal(withType(row({ type: 'json', value: '"a\\"b"' }), 'text').value, 'a"b');
  assert.equal(withType(row({ type: 'number', value: '7' }), 'text').value, '7');
  assert.equal(withType(row({ value: 'true' }), 'boolean').value, 'true');
  assert.equal(withType(row({ value: 'yes' }), 'boolean').value, 'false');
});

test('a new row has a key of its own', () => {
  assert.equal(newRow([row({ key: 4 }), row({ key: 2 })]).key, 5);
});
