import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FolderChange, FolderRow } from '../graph/live.tsx';
import { TreeMarks } from './change-marks.ts';

const folder = (name: string): FolderRow => ({
  id: 'f',
  name,
  title: name,
  icon: null,
  accessLevel: 'READ',
  version: 1,
  parent: { id: 'p' },
  folders: { totalCount: 0 },
});

const change = (kind: FolderChange['kind'], others: Partial<FolderChange> = {}): FolderChange => ({
  kind,
  cursor: 'c',
  folderId: 'f',
  folder: kind === 'DELETE' ? null : folder('New'),
  oldParent: null,
  newParent: null,
  folderCount: null,
  at: '2026-01-31T12:00:00.000Z',
  by: { id: 'u', username: 'ada' },
  ...others,
});

function bed() {
  const due: { ms: number; run: () => void }[] = [];
  const marks = new TreeMarks({
    after(ms, run) {
      due.push({ ms, run });
      return () => undefined;
    },
  });
  const pass = (upTo: number) => {
    for (const { run } of due.splice(0).filter(({ ms }) => ms <= upTo)) run();
  };
  return { marks, pass };
}

test('a row tells who did what, for some seconds, and screen readers are told', () => {
  const { marks, pass } = bed();
  marks.note(change('UPDATE'), { before: folder('Old'), viewerId: 'me' });
  assert.equal(marks.markOf('f'), 'renamed by ada, just now');
  assert.equal(marks.told, '');
  pass(60_000);
  assert.equal(marks.told, 'New renamed by ada.');
  assert.equal(marks.markOf('f'), null);
});

test('each kind of change has its words', () => {
  const cases: readonly (readonly [FolderChange, FolderRow | undefined, string])[] = [
    [change('CREATE'), undefined, 'added by ada, just now'],
    [change('UPDATE'), folder('New'), 'changed by ada, just now'],
    [change('MOVE'), folder('New'), 'moved here by ada, just now'],
    [change('IMPORT', { folderCount: 1_200 }), folder('New'), 'given 1,200 folders by ada, just now'],
    [change('UPDATE', { by: null }), folder('New'), 'changed, just now'],
    [change('CREATE', { at: null, by: null }), undefined, 'shown to you with other rights, just now'],
  ];
  for (const [one, before, text] of cases) {
    const { marks } = bed();
    marks.note(one, { before, viewerId: 'me' });
    assert.equal(marks.markOf('f'), text);
  }
});

test('a deleted folder is told of where it was', () => {
  const { marks } = bed();
  marks.note(change('DELETE'), {
    before: folder('Old'),
    parent: { ...folder('P'), id: 'p' },
    viewerId: 'me',
  });
  assert.equal(marks.markOf('p'), '“Old” deleted by ada');
  assert.equal(marks.markOf('f'), null);
});

test('many changes are told by their number', () => {
  const { marks, pass } = bed();
  for (let at = 0; at < 27; at++) marks.note(change('UPDATE', { folderId: `f${at}` }), { viewerId: 'me' });
  pass(2_000);
  assert.equal(marks.told, '27 changes by others.');
});

test('what one does oneself is not marked', () => {
  const { marks, pass } = bed();
  marks.note(change('UPDATE', { by: { id: 'me', username: 'me' } }), {
    before: folder('Old'),
    viewerId: 'me',
  });
  pass(60_000);
  assert.equal(marks.markOf('f'), null);
  assert.equal(marks.told, '');
});
