import assert from 'node:assert/strict';
import { test } from 'node:test';
import { journalCsvHeader, formatJournalCsvRow, type JournalCsvEntry } from './journal-csv.ts';

const entry = (fields: Partial<JournalCsvEntry>): JournalCsvEntry => ({
  number: 7,
  at: '2026-11-15T16:50:07.123Z',
  kind: 'UPDATE_FOLDER',
  byId: 'a1',
  by: { username: 'admin' },
  byApiKeyId: null,
  byApiKey: null,
  folderId: null,
  folder: null,
  path: null,
  formerPath: null,
  userId: null,
  user: null,
  groupId: null,
  group: null,
  sessionId: null,
  before: null,
  after: null,
  ...fields,
});

test('the header names the columns like the GraphQL fields', () => {
  assert.equal(
    journalCsvHeader,
    'number,at,kind,byId,by,byApiKeyId,byApiKey,folderId,path,formerPath,userId,user,groupId,group,sessionId,before,after',
  );
});

test('a row contains the path at the time of the change, or the current path for older entries', () => {
  const folder = { path: '/Now' };
  assert.match(formatJournalCsvRow(entry({ path: '/Then', folder })), /,\/Then,,/);
  assert.match(formatJournalCsvRow(entry({ folder })), /,\/Now,,/);
});

test('a row quotes cells that need quotes, and escapes formulas', () => {
  const row = formatJournalCsvRow(
    entry({ by: { username: '=1+1' }, folderId: 'f1', path: '/a,"b"', formerPath: '/c', after: { n: 1 } }),
  );
  assert.equal(row, `7,2026-11-15T16:50:07.123Z,UPDATE_FOLDER,a1,'=1+1,,,f1,"/a,""b""",/c,,,,,,,"{""n"":1}"`);
  for (const name of ['+1', '-1', '@x', '=x']) {
    assert.match(formatJournalCsvRow(entry({ group: { name } })), new RegExp(`,'\\${name},`));
  }
});

test('a row contains the API key of the change, by its id alone if the key no longer exists', () => {
  const byApiKeyId = 'k1';
  assert.match(
    formatJournalCsvRow(entry({ byApiKeyId, byApiKey: { name: '=nightly' } })),
    /,admin,k1,'=nightly,/,
  );
  assert.match(formatJournalCsvRow(entry({ byApiKeyId })), /,admin,k1,,/);
});

test('a row with control characters stays on one line', () => {
  const hostile = '\t=a\u001b[31m\u202e\r\nb ';
  const line = formatJournalCsvRow(entry({ path: hostile, user: { username: ' x' }, before: { hostile } }));
  assert.doesNotMatch(line, /[\p{Cc}\u202e]/u);
  assert.match(line, /," x",/);
  const before = line.slice(line.indexOf('"{') + 1, line.lastIndexOf('}"') + 1).replaceAll('""', '"');
  assert.deepEqual(JSON.parse(before), { hostile }, 'it is still JSON');
});
