import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validate, newRow, toRows, formatJson, changeType, type PropertyRow } from './property-rows.ts';

const properties = { city: 'Delft', opened: 1987, listed: true, closed: null, tags: ['a'], at: { x: 1 } };

test('keeps the type of every value in rows', () => {
  const rows = toRows(properties);
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
  assert.deepEqual(validate({ kind: 'rows', rows }).properties, properties);
  assert.deepEqual(validate({ kind: 'json', text: formatJson(properties) }).properties, properties);
});

test('keeps a text that looks like a number as text', () => {
  const rows = toRows({ code: '0123', __proto__: null });
  assert.deepEqual(validate({ kind: 'rows', rows }).properties, { code: '0123' });
});

const row = (fields: Partial<PropertyRow>): PropertyRow => ({ ...newRow([]), name: 'a', ...fields });

for (const [value, isNumber] of [
  ['12', true],
  [' -1.5e3 ', true],
  ['', false],
  ['012', false],
  ['1e999', false],
  ['twelve', false],
] as const) {
  test(`${isNumber ? 'accepts' : 'rejects'} ${JSON.stringify(value)} as a number`, () => {
    const { properties: validated, rows } = validate({
      kind: 'rows',
      rows: [row({ type: 'number', value })],
    });
    assert.equal(validated !== null, isNumber);
    assert.equal(rows.get(0)?.value, isNumber ? undefined : 'Not a number.');
  });
}

test('reports a missing or duplicate name at its row', () => {
  const rows = [row({ key: 0 }), row({ key: 1 }), row({ key: 2, name: '', value: 'x' })];
  const validated = validate({ kind: 'rows', rows });
  assert.equal(validated.properties, null);
  assert.deepEqual(
    [...validated.rows],
    [
      [1, { name: 'This name is already used.' }],
      [2, { name: 'Enter a name.' }],
    ],
  );
});

test('leaves out an empty row', () => {
  const rows = [row({ key: 0, value: 'x' }), newRow([])];
  assert.deepEqual(validate({ kind: 'rows', rows }), { properties: { a: 'x' }, rows: new Map() });
});

test('reports invalid JSON in a row and in the text', () => {
  const validated = validate({ kind: 'rows', rows: [row({ type: 'json', value: '{' })] });
  assert.equal(validated.rows.get(0)?.value, 'Not valid JSON.');
  assert.match(validate({ kind: 'json', text: '{"a": }' }).problem!, /^Not valid JSON: /);
  assert.match(validate({ kind: 'json', text: '[1]' }).problem!, /must be an object/);
});

test('reports duplicate names in the text at any depth', () => {
  const problem = (text: string) => validate({ kind: 'json', text }).problem;
  assert.equal(problem('{"a": 1, "\\u0061": 2}'), 'The name "a" appears twice.');
  assert.equal(problem('{"a": [{"b": 1}, {"b": {"c": "b", "c": 0}}]}'), 'The name "c" appears twice.');
  assert.equal(problem('{"a": "a", "b": ["a", "a"], "c": {"a": ":"}}'), undefined);
});

test('accepts 16 KiB and rejects one byte more', () => {
  const ofBytes = (bytes: number) => [row({ value: 'x'.repeat(bytes - '{"a":""}'.length) })];
  assert.equal(validate({ kind: 'rows', rows: ofBytes(16_384) }).problem, undefined);
  assert.match(validate({ kind: 'rows', rows: ofBytes(16_385) }).problem!, /maximum is 16 KiB/);
});

test('converts the value when the type changes', () => {
  assert.equal(changeType(row({ value: 'a"b' }), 'json').value, '"a\\"b"');
  assert.equal(changeType(row({ type: 'json', value: '"a\\"b"' }), 'text').value, 'a"b');
  assert.equal(changeType(row({ type: 'number', value: '7' }), 'text').value, '7');
  assert.equal(changeType(row({ value: 'true' }), 'boolean').value, 'true');
  assert.equal(changeType(row({ value: 'yes' }), 'boolean').value, 'false');
});

test('gives a new row a unique key', () => {
  assert.equal(newRow([row({ key: 4 }), row({ key: 2 })]).key, 5);
});
