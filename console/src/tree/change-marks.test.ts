import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FolderChange, FolderRow } from '../graph/live.tsx';
import { ChangeMarks, describeGoneFolder } from './change-marks.ts';

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

function createMarks() {
  const due: { ms: number; run: () => void }[] = [];
  const marks = new ChangeMarks({
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

test('marks a row for some seconds and announces the change', () => {
  const { marks, pass } = createMarks();
  marks.record(change('UPDATE'), { before: folder('Old'), viewerId: 'me' });
  assert.equal(marks.markOf('f'), 'renamed by ada, just now');
  assert.equal(marks.announcement, '');
  pass(60_000);
  assert.equal(marks.announcement, 'New renamed by ada.');
  assert.equal(marks.markOf('f'), null);
});

test('describes each kind of change', () => {
  const cases: readonly (readonly [FolderChange, FolderRow | undefined, string])[] = [
    [change('CREATE'), undefined, 'added by ada, just now'],
    [change('UPDATE'), folder('New'), 'changed by ada, just now'],
    [change('MOVE'), folder('New'), 'moved here by ada, just now'],
    [change('IMPORT', { folderCount: 1_200 }), folder('New'), '1,200 folders imported by ada, just now'],
    [change('UPDATE', { by: null }), folder('New'), 'changed, just now'],
    [change('CREATE', { at: null, by: null }), undefined, 'your access changed, just now'],
  ];
  for (const [each, before, text] of cases) {
    const { marks } = createMarks();
    marks.record(each, { before, viewerId: 'me' });
    assert.equal(marks.markOf('f'), text);
  }
});

test('marks the parent of a deleted folder', () => {
  const { marks } = createMarks();
  marks.record(change('DELETE'), {
    before: folder('Old'),
    parent: { ...folder('P'), id: 'p' },
    viewerId: 'me',
  });
  assert.equal(marks.markOf('p'), '“Old” deleted by ada');
  assert.equal(marks.markOf('f'), null);
});

test('announces only the number of many changes', () => {
  const { marks, pass } = createMarks();
  for (let index = 0; index < 27; index++)
    marks.record(change('UPDATE', { folderId: `f${index}` }), { viewerId: 'me' });
  pass(2_000);
  assert.equal(marks.announcement, '27 changes by other users.');
});

test('ignores changes by the viewer', () => {
  const { marks, pass } = createMarks();
  marks.record(change('UPDATE', { by: { id: 'me', username: 'me' } }), {
    before: folder('Old'),
    viewerId: 'me',
  });
  pass(60_000);
  assert.equal(marks.markOf('f'), null);
  assert.equal(marks.announcement, '');
});

test('reports that a missing folder was deleted only if this is certain', () => {
  const cases: readonly (readonly [Partial<FolderChange>, isAdministrator: boolean, string])[] = [
    [{}, true, '“Lab” was deleted by ada.'],
    [{ by: null }, true, '“Lab” was deleted.'],
    [
      {},
      false,
      '“Lab” is no longer visible to you: ada deleted it or moved it to a folder that you cannot see.',
    ],
    [{ by: null }, false, '“Lab” is no longer available.'],
    [{ at: null, by: null }, false, '“Lab” is no longer visible to you.'],
    [{ kind: 'UPDATE' }, true, '“Lab” is no longer available.'],
  ];
  for (const [details, isAdministrator, text] of cases) {
    assert.equal(
      describeGoneFolder({ ...change('DELETE'), ...details }, { name: 'Lab', isAdministrator }),
      text,
    );
  }
  assert.equal(
    describeGoneFolder(
      { ...change('DELETE'), at: null, by: null },
      { name: undefined, isAdministrator: false },
    ),
    'The folder is no longer visible to you.',
  );
});
