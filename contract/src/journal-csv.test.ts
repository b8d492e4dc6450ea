import assert from 'node:assert/strict';
import { test } from 'node:test';
import { journalCsvHeading, journalCsvRow, type JournalCsvEntry } from './journal-csv.ts';

const entry = (given: Partial<JournalCsvEntry>): JournalCsvEntry => ({
  number: 7,
  at: '2026-11-15T16:50:07.123Z',
  kind: 'UPDATE_FOLDER',
  byId: 'a1',
  by: { username: 'admin' },
  folderId: null,
  folder: null,
  userId: null,
  user: null,
  groupId: null,
  group: null,
  sessionId: null,
  before: null,
  after: null,
  ...given,
});

test('the columns have the names of the graph', () => {
  assert.equal(
    journalCsvHeading,
    'number,at,kind,byId,by,folderId,folder,userId,user,groupId,group,sessionId,before,after',
  );
});

test('a row quotes what needs it, and a name does not become a formula', () => {
  const row = journalCsvRow(
    entry({ by: { username: '=1+1' }, folderId: 'f1', folder: { path: '/a,"b"' }, after: { n: 1 } }),
  );
  assert.equal(row, `7,2026-11-15T16:50:07.123Z,UPDATE_FOLDER,a1,'=1+1,f1,"/a,""b""",,,,,,,"{""n"":1}"`);
  for (const name of ['+1', '-1', '@x', '=x']) {
    assert.match(journalCsvRow(entry({ group: { name } })), new RegExp(`,'\\${name},`));
  }
});

test('a row is one line, whatever the names hold', () => {
  const hostile = '\t=a\u001b[31m\u202e\r\nb ';
  const line = journalCsvRow(
    entry({ folder: { path: hostile }, user: { username: ' x' }, before: { hostile } }),
  );
  assert.doesNotMatch(line, /[\p{Cc}\u202e]/u);
  assert.match(line, /," x",/);
  const before = line.slice(line.indexOf('"{') + 1, line.lastIndexOf('}"') + 1).replaceAll('""', '"');
  assert.deepEqual(JSON.parse(before), { hostile }, 'it is still JSON');
});
