import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { formatCsvLine, parseCsv } from './csv.ts';
import { FileError } from './file-error.ts';

const rows = (text: string) => [...parseCsv(text)].map(({ cells }) => cells);

test('separates cells at commas, and rows at any line ending', () => {
  for (const end of ['\n', '\r\n', '\r']) {
    assert.deepEqual(rows(`a,b${end}c,d${end}`), [
      ['a', 'b'],
      ['c', 'd'],
    ]);
  }
  assert.deepEqual(rows('a,b\nc,d'), rows('a,b\nc,d\n'));
});

test('reads commas, line ends and doubled quotes inside quotes', () => {
  assert.deepEqual(rows('"a,b","c\r\nd","say ""e"""\n'), [['a,b', 'c\r\nd', 'say "e"']]);
});

test('ignores a byte order mark', () => {
  assert.deepEqual(rows('\ufeffpath,title\na,b\n'), [
    ['path', 'title'],
    ['a', 'b'],
  ]);
});

test('keeps empty cells and skips empty lines', () => {
  assert.deepEqual(rows('a,,\n\n,b,\n'), [
    ['a', '', ''],
    ['', 'b', ''],
  ]);
  assert.deepEqual(rows(''), []);
  assert.deepEqual(rows('a,'), [['a', '']]);
  assert.deepEqual(rows('""\n'), [['']]);
});

test('reports the line of each row, also after a cell with several lines', () => {
  const lines = [...parseCsv('a\n"b\nc",x\n\nd\n')].map(({ line }) => line);
  assert.deepEqual(lines, [1, 2, 5]);
});

test('reports a misplaced quote with its line', () => {
  for (const text of ['a\nb"c\n', 'a\n"b\n', 'a\n"b"c\n']) {
    assert.throws(
      () => rows(text),
      (error) => error instanceof FileError && /^Line 2: a quote/.test(error.message),
    );
  }
});

test('adds an apostrophe to a formula when it writes, and removes it when it reads', () => {
  for (const formula of ['=1+1', '+1', '-1', '@x', '\t=1', '\r=1', '\n=1', '＝1', "'=1", "''-1"]) {
    const line = formatCsvLine([formula, 'a=1']);
    assert.ok(line.startsWith(`'${formula},`) || line.startsWith(`"'${formula}",`), line);
    assert.deepEqual(rows(line), [[formula, 'a=1']]);
  }
  assert.deepEqual(rows(formatCsvLine(["'quoted'", ''])), [["'quoted'", '']]);
  assert.equal(formatCsvLine(["'quoted'"]), "'quoted'\r\n");
});

test('reads the cells that it has written', () => {
  const cell = fc.string({
    unit: fc.constantFrom('a', ',', '"', '\n', '\r', ' ', 'ü', '\ufeff', "'", '=', '-', '\t', ''),
  });
  fc.assert(
    fc.property(fc.array(fc.array(cell, { minLength: 2, maxLength: 4 })), (input) => {
      assert.deepEqual(rows(`x,y\r\n${input.map(formatCsvLine).join('')}`).slice(1), input);
    }),
  );
});
