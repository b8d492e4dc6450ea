import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { isSame, RowDigest, type Row, type Value } from './table-rows.ts';

function digestOf(...pages: Row[][]) {
  const digest = new RowDigest(['id', 'value']);
  for (const page of pages) digest.add(page);
  return digest.end();
}

test('computes the SHA-256 of a line of JSON for each row, with bytes as an array of their base64', () => {
  const lines = '["a",1]\n["b",["AP8="]]\n["c",null]\n';
  assert.deepEqual(
    digestOf([
      { id: 'a', value: 1 },
      { value: new Uint8Array([0, 255]), id: 'b' },
      { id: 'c', value: null },
    ]),
    { count: 3, sha256: createHash('sha256').update(lines).digest('hex') },
  );
});

test('does not depend on the pages of the rows or on the type of byte array', () => {
  const bytes = new Uint8Array([9, 1, 2, 9]).subarray(1, 3);
  assert.ok(
    isSame(
      digestOf([
        { id: 'a', value: bytes },
        { id: 'b', value: 2 },
      ]),
      digestOf([{ id: 'a', value: Buffer.from([1, 2]) }], [], [{ id: 'b', value: 2 }]),
    ),
  );
});

test('differs for values that look alike', () => {
  const values: Value[] = [
    null,
    '',
    'null',
    0,
    '0',
    Buffer.alloc(0),
    '[""]',
    'é',
    'e\u0301',
    '\ud83d',
    '\ufffd',
  ];
  const digests = values.map((value) => digestOf([{ id: 'a', value }]).sha256);
  assert.equal(new Set(digests).size, values.length);
});
