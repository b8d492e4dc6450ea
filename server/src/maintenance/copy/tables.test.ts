import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { digestRows, type Row, type Value } from './tables.ts';

function digestOf(...pages: Row[][]) {
  return digestRows(Readable.from(pages), ['id', 'value'], () => undefined);
}

test('computes the SHA-256 of one JSON line per row, with bytes as base64', async () => {
  const lines = '["a",1]\n["b",["AP8="]]\n["c",null]\n';
  assert.deepEqual(
    await digestOf([
      { id: 'a', value: 1 },
      { value: new Uint8Array([0, 255]), id: 'b' },
      { id: 'c', value: null },
    ]),
    { count: 3, sha256: createHash('sha256').update(lines).digest('hex') },
  );
});

test('computes the same digest for any page size and type of byte array', async () => {
  const bytes = new Uint8Array([9, 1, 2, 9]).subarray(1, 3);
  assert.deepEqual(
    await digestOf([
      { id: 'a', value: bytes },
      { id: 'b', value: 2 },
    ]),
    await digestOf([{ id: 'a', value: Buffer.from([1, 2]) }], [], [{ id: 'b', value: 2 }]),
  );
});

test('computes different digests for values that look alike', async () => {
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
  const digests = await Promise.all(values.map((value) => digestOf([{ id: 'a', value }])));
  assert.equal(new Set(digests.map(({ sha256 }) => sha256)).size, values.length);
});
