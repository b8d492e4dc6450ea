import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { StartError } from '../../../config/start-error.ts';
import { readDirectory } from './directory-source.ts';

const options = {
  withFiles: false,
  withHidden: false,
  onRead: () => undefined,
  signal: new AbortController().signal,
};

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'espalier-directory-'));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test('reports the directory that cannot be read', async () => {
  await assert.rejects(
    readDirectory('/none/at all', options),
    (error) =>
      error instanceof StartError &&
      /^Cannot read \/none\/at all: the folder \/none does not exist/.test(error.message),
  );
});

test('reports a name that is not valid UTF-8', async (t) => {
  const folder = newFolder(t);
  mkdirSync(Buffer.concat([Buffer.from(`${folder}/`), Buffer.from('Gr\xfcn', 'latin1')]));
  await assert.rejects(readDirectory(folder, options), /is not valid UTF-8: "Grün"/);
});

test('stops reading when the signal is aborted', async (t) => {
  const folder = newFolder(t);
  await assert.rejects(readDirectory(folder, { ...options, signal: AbortSignal.abort() }), /aborted/);
});
