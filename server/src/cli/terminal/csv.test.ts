import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { CsvError, csvLine, parseCsv } from './csv.ts';

const rows = (text: string) => [...parseCsv(text)].map(({ cells }) => cells);

test('cells are parted by commas, rows by line ends of any kind', () => {
  for (const end of ['\n', '\r\n', '\r']) {
    assert.deepEqual(rows(`a,b${end}c,d${end}`), [
      ['a', 'b'],
      ['c', 'd'],
    ]);
  }
  assert.deepEqual(rows('a,b\nc,d'), rows('a,b\nc,d\n'));
});

test('quotes hold commas, line ends and doubled quotes', () => {
  assert.deepEqual(rows('"a,b","c\r\nd","say ""e"""\n'), [['a,b', 'c\r\nd', 'say "e"']]);
});

test('a mark of the byte order is no part of the first cell', () => {
  assert.deepEqual(rows('\ufeffpath,title\na,b\n'), [
    ['path', 'title'],
    ['a', 'b'],
  ]);
});

test('empty cells are there, and empty lines are not', () => {
  assert.deepEqual(rows('a,,\n\n,b,\n'), [
    ['a', '', ''],
    ['', 'b', ''],
  ]);
  assert.deepEqual(rows(''), []);
  assert.deepEqual(rows('a,'), [['a', '']]);
  assert.deepEqual(rows('""\n'), [['']]);
});

test('a row knows its line, also after cells of several lines', () => {
  const lines = [...parseCsv('a\n"b\nc",x\n\nd\n')].map(({ line }) => line);
  assert.deepEqual(lines, [1, 2, 5]);
});

test('reports a misplaced quote with its line', () => {
  for (const text of ['a\nb"c\n', 'a\n"b\n', 'a\n"b"c\n']) {
    assert.throws(
      () => rows(text),
      (error) => error instanceof CsvError && /^Line 2: a quote/.test(error.message),
    );
  }
});

test('whatever is written is read as it was', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', ',', '"', '\n', '\r', ' ', 'ü', '\ufeff', '') });
  fc.assert(
    fc.property(fc.array(fc.array(cell, { minLength: 2, maxLength: 4 })), (input) => {
      assert.deepEqual(rows(`x,y\r\n${input.map(csvLine).join('')}`).slice(1), input);
    }),
  );
});
