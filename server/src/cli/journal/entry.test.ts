import assert from 'node:assert/strict';
import { test } from 'node:test';
import { heading, toLine, type Entry } from './entry.ts';

const entry = (input: Partial<Entry>): Entry => ({
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
  ...input,
});

/** The text in the column "What". */
const what = (input: Partial<Entry>) => toLine(entry(input)).slice(heading.indexOf('What'));

test('aligns number, time, user and change with their headings', () => {
  const line = toLine(entry({ folderId: 'f1', folder: { path: '/Places' }, after: { title: 'P' } }));
  assert.equal(heading, '  Number  At (UTC)             By            What');
  assert.equal(line, '       7  2026-11-15 16:50:07  admin         UPDATE_FOLDER  /Places  title: P');
});

test('displays the API key of a change, by its id if it no longer exists', () => {
  const byKey = { byApiKeyId: 'k1', byApiKey: { name: 'nightly' } };
  assert.match(toLine(entry(byKey)), / admin +UPDATE_FOLDER +with key nightly$/);
  assert.match(toLine(entry({ ...byKey, byApiKey: null })), / admin +UPDATE_FOLDER +with key id:k1$/);
});

test('displays a deleted user by id, and the server as the author of its own changes', () => {
  assert.match(toLine(entry({ by: null })), / id:a1 /);
  assert.match(toLine(entry({ by: null, byId: null })), / \(server\) /);
});

test('displays a deleted object by the name in the entry, or by its id', () => {
  const folderId = 'f1';
  assert.equal(
    what({ kind: 'DELETE_FOLDER', folderId, before: { name: 'Old' } }),
    'DELETE_FOLDER  Old (deleted)',
  );
  assert.equal(what({ folderId, after: { title: 'T' } }), 'UPDATE_FOLDER  id:f1  title: T');
  const renamed = { before: { username: 'bob' }, after: { username: 'Robert' } };
  assert.equal(
    what({ kind: 'UPDATE_USER', userId: 'u1', user: { username: 'Robert' }, ...renamed }),
    'UPDATE_USER  user Robert  username: bob → Robert',
  );
});

test('displays the name of an API key, which is not the name of the user', () => {
  const key = { userId: 'u1', user: { username: 'robot' }, after: { name: 'nightly', level: 'READ' } };
  assert.equal(
    what({ kind: 'CREATE_API_KEY', ...key }),
    'CREATE_API_KEY  user robot  name: nightly  level: READ',
  );
});

test('displays both paths of a move instead of the parent ids', () => {
  const paths = { folderId: 'f1', folder: { path: '/b/x' }, path: '/b/x' };
  const move = {
    kind: 'MOVE_FOLDER',
    ...paths,
    before: { parentId: 'a' },
    after: { parentId: 'b', name: 'x' },
  };
  assert.equal(what({ ...move, formerPath: '/a/x' }), 'MOVE_FOLDER  /b/x from /a/x');
  assert.equal(what(move), 'MOVE_FOLDER  /b/x  parentId: a → b');
});

test('displays folder, group and level of a grant, and shortens a long text', () => {
  const grant = {
    kind: 'GRANT_ACCESS',
    folderId: 'f1',
    folder: { path: '/' },
    groupId: 'g1',
    group: { name: 'G' },
  };
  assert.equal(
    what({ ...grant, before: { level: 'READ' }, after: { level: 'WRITE' } }),
    'GRANT_ACCESS  /  group G  level: READ → WRITE',
  );
  const line = what({ after: { description: 'x'.repeat(200) } });
  assert.equal(line, `UPDATE_FOLDER  description: ${'x'.repeat(59)}…`);
});

test('escapes control characters', () => {
  const hostile = 'a\u001b[31m\u009b\u202e\nb';
  const input = entry({
    by: { username: hostile },
    folderId: 'f',
    folder: { path: hostile },
    after: { title: hostile, [hostile]: 1 },
  });
  assert.doesNotMatch(toLine(input), /[\p{Cc}\u202e]/u);
});
