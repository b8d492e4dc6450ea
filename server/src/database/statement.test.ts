import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRowId } from './statement.ts';

test('accepts only the canonical form of a UUID as a row id', () => {
  const id = '019c1407-aa00-7abc-8def-0123456789ab';
  assert.ok(isRowId(id));
  const others = [
    '',
    id.toUpperCase(),
    id.replaceAll('-', ''),
    `{${id}}`,
    `urn:uuid:${id}`,
    `${id}\n`,
    ` ${id}`,
    id.slice(1),
    `${id}0`,
    id.replace('a', 'g'),
    id.replace('0', '\u0660'),
  ];
  for (const other of others) assert.ok(!isRowId(other), JSON.stringify(other));
});
