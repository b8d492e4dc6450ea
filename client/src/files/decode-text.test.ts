import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeText } from './decode-text.ts';
import { FileError } from './file-error.ts';

const text = 'path\nGrün 🌳\n';
const assertFails = (bytes: Uint8Array, message: RegExp) =>
  assert.throws(
    () => decodeText(bytes),
    (error) => error instanceof FileError && message.test(error.message),
  );

test('decodes UTF-8, and UTF-16 with a byte order mark', () => {
  const utf16 = Buffer.from(`\ufeff${text}`, 'utf16le');
  assert.equal(decodeText(Buffer.from(text)), text);
  assert.equal(decodeText(Buffer.from(`\ufeff${text}`)), text);
  assert.equal(decodeText(utf16), text);
  assert.equal(decodeText(Buffer.from(utf16).swap16()), text);
  assert.equal(decodeText(new Uint8Array()), '');
});

test('names the line that is not UTF-8', () => {
  assertFails(Buffer.from('path\na\nGr\xfcn\nb\n', 'latin1'), /^Line 3 is not valid UTF-8\. Save/);
  assertFails(Buffer.from('Gr\xfc', 'latin1'), /^Line 1 is/);
});

test('rejects UTF-16 that is damaged or has no byte order mark, and binary files', () => {
  assertFails(Buffer.from('\ufeffa\ud800', 'utf16le'), /not valid UTF-16/);
  assertFails(Buffer.from(text, 'utf16le').subarray(0, 10), /UTF-16 without/);
  assertFails(Buffer.from('PK\x03\x04\0\0'), /not a text file/);
});
